//! `fork`: copies of a paused box (docs/measured/createos-cli.md 4.1). Our own provider makes them; what is played is the
//! call and its answer.

use crate::argv::Parsed;
use crate::{Call, backend, print};
use serde_json::{Value, json};

impl Call<'_> {
    pub(crate) fn fork(&self, parsed: &Parsed) -> u8 {
        let id = parsed.positional.first().map(String::as_str).unwrap_or_default();
        let source = match self.view(id) {
            Ok(view) => view,
            Err(output) => return self.relay(&output),
        };
        let status = source["status"].as_str().unwrap_or_default();
        if status != "paused" {
            let words = format!("sandbox {id} is {status}, and fork needs a paused snapshot");
            return self.fail("conflict", &words);
        }
        let count: usize = parsed.one("--count").map_or(1, |count| count.parse().unwrap_or_default());
        if count == 0 {
            return self.fail("error", "--count must be at least 1");
        }
        let mut made = Vec::new();
        for _ in 0..count {
            let output = backend::ask(self.control, "fork", &[id]);
            if output.code != 0 {
                return self.relay(&output);
            }
            made.push(self.forked(&output.json(), id));
        }
        let answer = if count == 1 { made.remove(0) } else { json!(made) };
        print(&format!("{answer:#}\n"));
        0
    }

    /// The service's own object on the main line, an action on the branch.
    fn forked(&self, view: &Value, source: &str) -> Value {
        if !self.is_main() {
            return json!({
                "action": "forked", "id": view["id"], "name": view["name"], "status": "running", "ip": "",
                "ingress_url": "", "source_id": source, "shell_command": "",
            });
        }
        let mut view = view.clone();
        if let Some(members) = view.as_object_mut() {
            members.remove("action");
            members.insert("forked_from".into(), json!(source));
        }
        view
    }
}
