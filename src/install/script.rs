//! Programs that come by their own official installer script, from `templates/install.toml`.

use super::download::{Url, download};
use super::machine::{Installed, Machine, OnPath};
use super::template::{Script, TEMPLATE, places};
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use crate::ui;
use std::io::Write;
use std::path::PathBuf;

/// Names the installer of the createos CLI that is to run instead of our own download.
pub(super) const CREATEOS_URL: &str = "CREATEOS_INSTALL_URL";

#[derive(Debug)]
pub(crate) struct ScriptInstall {
    script: Script,
    url: Url,
}

impl ScriptInstall {
    /// Plans it; none when there is no script for this program.
    pub(super) fn new(id: &str, machine: &Machine<'_>) -> Result<Option<Self>> {
        let script = match id {
            // Only when the user names it: our own download is the rule.
            "createos" => (machine.var)(CREATEOS_URL).map(|url| Script {
                id: id.into(),
                url,
                variable: CREATEOS_URL.into(),
                shell: "sh".into(),
                needs: Vec::new(),
                lands: Vec::new(),
            }),
            id => TEMPLATE.script.iter().find(|script| script.id == id).cloned(),
        };
        let Some(script) = script else { return Ok(None) };
        let url = (machine.var)(&script.variable).unwrap_or_else(|| script.url.clone());
        Ok(Some(Self { url: Url::new(&url, &script.variable)?, script }))
    }

    pub(super) fn lines(&self) -> Vec<String> {
        vec![format!("download {}", self.url), format!("run it with {}", self.script.shell)]
    }

    pub(super) fn install(&self, machine: &Machine<'_>) -> Result<Installed> {
        let missing = |program: &&String| which::which_in(program, Some(machine.path), "/").is_err();
        if let Some(program) = self.script.needs.iter().chain([&self.script.shell]).find(missing) {
            return Err(Error::failed(format!(
                "the installer of {} needs {program}, which is not here",
                self.script.id
            ))
            .help(format!("install {program}, or {} by hand: {}", self.script.id, self.url)));
        }
        let text = download(&self.url)?;
        let mut file = tempfile::Builder::new()
            .prefix("createos-sandbox-")
            .suffix(".sh")
            .tempfile()
            .at("create a file in", &std::env::temp_dir())?;
        file.write_all(&text).at("write", file.path())?;
        let failed = |why: String| {
            Error::failed(format!("the installer of {} failed", self.script.id))
                .fact("installer", self.url.as_str())
                .fact("reason", why)
        };
        // Its output is for the person who watches; stdout may be owed to a JSON document.
        let run = Run::new(&self.script.shell).arg(file.path()).attended().stdout_to(ui::raw_note);
        let ended = run.run().map_err(|error| failed(error.to_string()))?;
        if !ended.success() {
            return Err(failed(format!("it ended with {}", ended.code())));
        }
        let path = self.landed(machine).ok_or_else(|| {
            failed(format!("it said that it was done, but there is no {} now", self.script.id))
        })?;
        Ok(Installed { on_path: OnPath::look(&path, &self.script.id, machine.path), path, backup: None })
    }

    /// Where the program is now: where its installer puts it, else on PATH.
    fn landed(&self, machine: &Machine<'_>) -> Option<PathBuf> {
        let places = places(&self.script.id, machine.home, machine.var).into_iter();
        let on_path = which::which_in_all(&self.script.id, Some(machine.path), "/").into_iter().flatten();
        let own = crate::createos::Own::of_this_process().ok();
        places.chain(on_path).find(|path| path.is_file() && !own.as_ref().is_some_and(|own| own.is(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_template_is_valid_and_variables_replace_its_addresses() {
        let plan = |id: &str, url: Option<&'static str>| {
            let var = move |_: &str| url.map(str::to_owned);
            let machine = Machine { home: Path::new("/h"), path: std::ffi::OsStr::new(""), var: &var };
            ScriptInstall::new(id, &machine).map(|plan| plan.map(|plan| plan.lines().join("; ")))
        };
        insta::assert_snapshot!(plan("herdr", None).unwrap().unwrap(), @"download https://herdr.dev/install.sh; run it with sh");
        insta::assert_snapshot!(plan("bun", None).unwrap().unwrap(), @"download https://bun.sh/install; run it with bash");
        insta::assert_snapshot!(plan("createos", Some("https://x/y")).unwrap().unwrap(), @"download https://x/y; run it with sh");
        assert_eq!(plan("git", None).unwrap(), None);
        assert!(plan("bun", Some("http://x/y")).is_err());
    }
}
