//! `agentArgs`: what an agent is given behind its own arguments; a list, or one for each agent.

use super::Agent;
use super::value::what;
use serde_json::Value;

/// Longer arguments are a mistake.
const LONGEST: usize = 4096;

/// The whole setting, as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentArgs {
    /// The same for every agent.
    Every(Vec<String>),
    /// In the order of the file; an agent that is not there has none.
    By(Vec<(Agent, Vec<String>)>),
}

impl Default for AgentArgs {
    fn default() -> Self {
        Self::Every(Vec::new())
    }
}

impl AgentArgs {
    /// What this agent is given.
    pub(crate) fn of(&self, agent: Agent) -> &[String] {
        match self {
            Self::Every(args) => args,
            Self::By(all) => all.iter().find(|(of, _)| *of == agent).map_or(&[], |(_, args)| args),
        }
    }
}

/// From its value in the file.
///
/// # Errors
/// Why it is not valid.
pub(super) fn read(value: &Value) -> Result<AgentArgs, String> {
    match value {
        Value::Array(_) => list(value).map(AgentArgs::Every),
        Value::Object(by) => {
            let one = |(name, args): (&String, &Value)| {
                let agent = super::value::parsed(name)?;
                Ok((agent, list(args).map_err(|why| format!("\"{name}\": {why}"))?))
            };
            by.iter().map(one).collect::<Result<_, String>>().map(AgentArgs::By)
        }
        other => Err(format!(
            "expected a list of texts, or an object from agent to such a list, found {}",
            what(other)
        )),
    }
}

fn list(value: &Value) -> Result<Vec<String>, String> {
    super::value::texts(value)?.into_iter().map(|text| judged(text).map(str::to_owned)).collect()
}

/// An argument that reaches the agent as it is.
///
/// # Errors
/// Why it would not.
pub(crate) fn judged(text: &str) -> Result<&str, String> {
    if text.len() > LONGEST {
        return Err(format!("an argument is longer than {LONGEST} bytes"));
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(format!("{text:?} has a control character"));
    }
    Ok(text)
}

/// As the file has it.
pub(super) fn write(args: &AgentArgs) -> Value {
    match args {
        AgentArgs::Every(args) => args.clone().into(),
        AgentArgs::By(all) => {
            Value::Object(all.iter().map(|(agent, args)| (agent.to_string(), args.clone().into())).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_is_for_every_agent_and_an_object_for_each() {
        let of = |value: Value, agent: &str| {
            let args = read(&value).unwrap();
            assert_eq!(write(&args), value);
            args.of(agent.parse().unwrap()).to_vec()
        };
        assert_eq!(of(json!(["--model", "x"]), "pi"), ["--model", "x"]);
        let by = json!({ "codex": ["-c", "a=1"], "claude-code": [] });
        assert_eq!(of(by.clone(), "codex"), ["-c", "a=1"]);
        assert!(of(by.clone(), "claude-code").is_empty() && of(by, "pi").is_empty());
    }

    #[test]
    fn what_is_no_list_of_arguments_is_refused_with_its_agent() {
        for (bad, words) in [
            (json!("--yolo"), "expected a list of texts, or an object"),
            (json!([1]), "expected a list of texts, found a number"),
            (json!({ "claude": [] }), "unknown agent \"claude\""),
            (json!({ "codex": "x" }), "\"codex\": expected a list of texts"),
            (json!(["a\u{0}b"]), "control character"),
            (json!(["x".repeat(5_000)]), "longer than"),
        ] {
            let error = read(&bad).unwrap_err();
            assert!(error.contains(words), "{bad}: {error}");
        }
    }
}
