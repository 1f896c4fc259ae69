//! `create`, `get`, `pause`, `resume` and `rm`. The main line prints the service's own objects, and `rm` as text;
//! the branch prints objects with an `action` (docs/measured/createos-cli.md 1, 4.1).

use crate::argv::Parsed;
use crate::errors::badge;
use crate::{Call, backend, machine, print};
use serde_json::{Value, json};

impl Call<'_> {
    pub(crate) fn create(&self, parsed: &Parsed) -> u8 {
        if parsed.one("--shape").is_none() {
            return self.fail("error", "please choose a size with --shape");
        }
        if self.control.take("name_taken") {
            let name = parsed.one("--name").unwrap_or_default();
            return self.fail("conflict", &format!("a sandbox with the name {name} already exists"));
        }
        // The service counts and makes in one step.
        let counting = std::fs::File::create(self.control.file("counting")).expect("a file");
        if let Some(most) = self.control.cap {
            counting.lock().expect("a lock");
            let listed = backend::ask(self.control, "list", &[]).json();
            if listed.as_array().is_some_and(|boxes| boxes.len() >= most) {
                return self.fail("forbidden", &format!("sandbox limit reached ({most})"));
            }
        }
        let mut kept = parsed.clone();
        // Its network is the service's, which no box of ours could play.
        kept.flags.retain(|(name, _)| name != "--egress");
        kept.flags.push(("--network".into(), Some("host".into())));
        if self.control.take("create_late") {
            // The service works on, whoever reads its answer. The test says when it is done.
            let words = backend::words(true, &self.argv.verb, &kept, &[]);
            self.control.append("late", &json!(words).to_string());
            return self.fail("server_error", "request failed with status 504");
        }
        let output = backend::capture(self.control, true, &self.argv.verb, &kept, &[]);
        self.control.wait_while_held("create", &[]);
        if output.code != 0 {
            return self.relay(&output);
        }
        let view = output.json();
        let id = view["id"].as_str().unwrap_or_default();
        let egress: Vec<_> =
            parsed.flags.iter().filter(|(name, _)| name == "--egress").map(|(_, rule)| rule).collect();
        std::fs::write(self.control.file(&format!("egress-{id}")), json!(egress).to_string())
            .expect("a note");
        self.control.sets_out(id, "creating");
        for script in machine::hide_agents().iter().chain(&self.control.image) {
            let made = Parsed { flags: Vec::new(), positional: vec![id.to_owned()] };
            let command = ["sh", "-c", script].map(str::to_owned);
            let carried = backend::capture(self.control, false, "exec", &made, &command);
            assert_eq!(carried.code, 0, "the image: {}", String::from_utf8_lossy(&carried.stderr));
        }
        if let Some(answer) = self.created(&view, &json!(egress)) {
            print(&format!("{answer:#}\n"));
        }
        0
    }

    /// The answer of a create; none when it is text.
    fn created(&self, view: &Value, egress: &Value) -> Option<Value> {
        let object = json!({
            "id": view["id"], "name": view["name"], "ip": "10.0.0.7", "shape": view["shape"], "rootfs": "devbox:1",
            "vcpu": view["vcpu"], "mem_mib": view["mem_mib"], "disk_mib": 10_240, "spawn_ms": 41, "egress": egress,
            "bandwidth_quota_bytes": 5_368_709_120_u64, "ingress_url_template": null,
            "auto_pause_after_seconds": view["auto_pause_after_seconds"],
        });
        let action = json!({
            "action": "created", "id": view["id"], "name": view["name"], "shape": view["shape"],
            "rootfs": "devbox:1", "ip": "", "ingress_url": "", "shell_command": "",
        });
        let usual = if self.is_main() { "object" } else { "action" };
        match self.control.create_json.as_deref().unwrap_or(usual) {
            "object" => Some(object),
            "action" => Some(action),
            "merged" => Some(merged(object, &action)),
            "decorated" => {
                print("Sandbox is ready [32m\n");
                Some(json!({ "id": view["id"], "name": view["name"], "unknown_key": [1, 2] }))
            }
            "text" => {
                print(&format!("Sandbox {} is ready\n", view["name"].as_str().unwrap_or_default()));
                None
            }
            other => panic!("no answer of create is called {other}"),
        }
    }

    /// The view of a box as the service has it; `Err` when our provider does not know it.
    pub(crate) fn view(&self, id: &str) -> Result<Value, backend::Output> {
        let output = backend::ask(self.control, "get", &[id]);
        if output.code != 0 {
            return Err(output);
        }
        let mut view = output.json();
        let egress = std::fs::read(self.control.file(&format!("egress-{id}"))).unwrap_or_default();
        if let Ok(rules) = serde_json::from_slice::<Value>(&egress) {
            view["egress"] = rules;
        }
        Ok(merged(view, &Value::Object(self.control.view.clone())))
    }

    pub(crate) fn get(&self, id: &str) -> u8 {
        let way = self.control.way(id, true);
        if self.control.hidden(id) || way.as_ref().is_some_and(|way| way.unknown) {
            return self.fail("not_found", &format!("no sandbox matching \"{id}\""));
        }
        let mut view = match self.view(id) {
            Ok(view) => view,
            Err(output) => return self.relay(&output),
        };
        if let Some(status) = self.control.status.clone().or_else(|| way.map(|way| way.status)) {
            view["status"] = json!(status);
        }
        if matches!(view["status"].as_str(), Some("running" | "paused")) {
            view["bandwidth"] = json!({
                "id": id, "quota_bytes": 5_368_709_120_u64, "used_bytes": 1024, "ingress_bytes": 512,
                "remaining_bytes": 5_368_708_096_u64, "capped": false,
            });
        }
        print(&format!("{view:#}\n"));
        0
    }

    /// `pause` and `resume`.
    pub(crate) fn transition(&self, id: &str) -> u8 {
        let verb = self.argv.verb.as_str();
        if self.control.lifecycle_broken() {
            return self.fail("bad_request", "Content-Length is required");
        }
        if verb == "resume" {
            self.control.sets_out(id, "resuming");
        }
        let output = backend::ask(self.control, verb, &[id]);
        if output.code != 0 {
            return self.relay(&output);
        }
        let mut view = output.json();
        let status = view["status"].clone();
        if let Some(members) = view.as_object_mut() {
            members.remove("action");
        }
        let answer = match self.is_main() {
            true => view,
            false => {
                json!({ "action": format!("{verb}d"), "id": id, "name": view["name"], "status": status })
            }
        };
        print(&format!("{answer:#}\n"));
        0
    }

    pub(crate) fn rm(&self, parsed: &Parsed) -> u8 {
        if !parsed.has(&["--yes", "--force", "-y"]) {
            return self.fail("error", "non-interactive mode: use --force to confirm deletion");
        }
        let (mut results, mut failed) = (Vec::new(), 0);
        for id in &parsed.positional {
            let refused = match self.control.take("rm_fails") {
                true => Some("the service is busy".to_owned()),
                false => {
                    self.control.ends_its_way(id);
                    let flags = vec![("--yes".to_owned(), None)];
                    let parsed = Parsed { flags, positional: vec![id.clone()] };
                    let output = backend::capture(self.control, false, "rm", &parsed, &[]);
                    let own = format!("{id}: ");
                    (output.code != 0).then(|| said(&output).trim_start_matches(&own).to_owned())
                }
            };
            if self.is_main() {
                print(&match &refused {
                    None => badge(self.control, "SUCCESS", &format!("Deleted {id}")),
                    Some(words) => badge(self.control, "ERROR", &format!("{id}: {words}")),
                });
            }
            failed += u8::from(refused.is_some());
            results.push(match refused {
                None => json!({ "ref": id, "id": id, "deleted": true }),
                Some(words) => json!({ "ref": id, "deleted": false, "error": words }),
            });
        }
        if !self.is_main() {
            // docs/measured/createos-cli.md 3.11: a failure stands in the document only.
            let deleted = results.len() - usize::from(failed);
            let document =
                json!({ "action": "deleted", "results": results, "deleted": deleted, "failed": failed });
            print(&format!("{document:#}\n"));
        }
        u8::from(failed > 0)
    }

    /// Refuses what needs a running box, before anything else is asked for.
    pub(crate) fn refuses_unless_running(&self, id: &str, verb: &str) -> Option<u8> {
        let way = self.control.way(id, false).map(|way| way.status);
        if !self.is_main() {
            // The service itself refuses.
            return way.map(|status| self.fail("conflict", &format!("sandbox {id} is {status}")));
        }
        let status = match way.or_else(|| self.control.status.clone()) {
            Some(status) => status,
            None => match self.view(id) {
                Ok(view) => view["status"].as_str().unwrap_or_default().to_owned(),
                Err(output) => return Some(self.relay(&output)),
            },
        };
        let words = match status.as_str() {
            "running" => return None,
            "paused" => format!(
                "sandbox {id} is paused\n\n  Resume it first:\n    createos sandbox resume {id}\n\n  Then retry your \
                 {verb} command"
            ),
            status => format!("sandbox {id} is {status}; {verb} requires a running sandbox"),
        };
        Some(self.fail("error", &words))
    }

    /// Tells what our provider refused, in this program's way.
    pub(crate) fn relay(&self, output: &backend::Output) -> u8 {
        let (code, words) = output.refusal();
        self.fail(&code, &words)
    }
}

/// What our provider said to a person.
pub(crate) fn said(output: &backend::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

/// The first with the members of the second in place of its own.
fn merged(mut first: Value, second: &Value) -> Value {
    if let (Value::Object(first), Value::Object(second)) = (&mut first, second) {
        first.extend(second.clone());
    }
    first
}
