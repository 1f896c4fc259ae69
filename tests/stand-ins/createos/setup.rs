//! `setup HOST`: the official installers. Only what they say, and for herdr that the Bun plugin takes our id
//! (docs/measured/createos-cli.md 3.10).

use crate::help::HOSTS;
use crate::{Call, print};
use std::process::Command;

impl Call<'_> {
    pub(crate) fn setup(&self, verb: &str) -> u8 {
        let host = verb.strip_prefix("setup ").unwrap_or_default();
        let Some(host) =
            HOSTS.iter().find(|known| **known == host || (**known == "claude-code" && host == "claude"))
        else {
            let words = format!("createos sandbox setup: \"{host}\" is not a subcommand.");
            return self.fail("error", &words);
        };
        let parsed = self.argv.flags(self.control).expect("it was read before");
        print("signed in to CreateOS\n");
        if parsed.has(&["--doctor"]) {
            print(
                "\nEverything the plugin needs is present. Run this again without --doctor to install it.\n",
            );
            return 0;
        }
        if *host != "herdr" {
            print(&format!("Done. {host} is connected.\n"));
            return 0;
        }
        let package = "NodeOps-app/createos-plugins/packages/herdr-plugin";
        print(&format!("installing createos.sandbox from {package}\n"));
        match Command::new("herdr").args(["plugin", "install", package, "--yes"]).output() {
            Ok(output) if output.status.success() => {
                print("plugin installed\n");
                0
            }
            Ok(output) => {
                let words = String::from_utf8_lossy(&output.stderr).into_owned();
                self.fail("error", &format!("herdr plugin install failed: {words}"))
            }
            Err(_) => self.fail("error", "herdr is not on PATH — install it from https://herdr.dev"),
        }
    }
}
