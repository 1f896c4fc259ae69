//! The tables of the documents have a row for each check, flag, action, setting and agent.

use super::document;
use crate::setup::machine;
use crate::support::{Herdr, User};

/// The words in backticks of a cell.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_pages_of_setup_and_doctor_know_every_check_and_every_flag() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let (doctor, setup) = (document("docs/doctor.md"), document("docs/setup.md"));
    let report = home.run(&["setup", "--doctor", "--json"]).success().json();
    for check in report["checks"].as_array().unwrap() {
        let id = check["id"].as_str().unwrap();
        assert!(doctor.contains(&format!("`{id}`")), "{id}");
    }
    let help = home.run(&["setup", "--help"]).success().stdout;
    let flags = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
    for flag in flags.map(|word| word.trim_end_matches(|c: char| !c.is_ascii_lowercase())) {
        assert!(flag == "--help" || setup.contains(&format!("`{flag}")), "{flag}");
    }
}

#[test]
fn the_page_of_actions_knows_every_action() {
    let help = machine(User::Me).run(&["herdr", "--help"]).success().stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let page = document("docs/actions.md");
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")).collect();
    for line in commands.filter(|line| !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        let has = |row: &&str| row.split(" | ").next().unwrap().split(['`', ' ']).any(|word| word == name);
        assert!(name == "help" || rows.iter().any(has), "{name}");
    }
}

#[test]
fn the_page_of_configuration_has_the_agents_and_defaults_of_the_program() {
    let page = document("docs/configuration.md");
    let row = page.lines().find(|line| line.starts_with("| `agent` |")).unwrap();
    let data = document("templates/agents.toml");
    let tables = data.lines().filter_map(|line| line.strip_prefix("[agents.")?.strip_suffix(']'));
    let mut agents: Vec<&str> = tables.collect();
    let mut shown = names(row.rsplit(" | ").next().unwrap());
    agents.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, agents);

    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let plan = home.run(&["setup", "--yes"]).success();
    let written = home.path().join(crate::setup::SETTINGS);
    let written = std::fs::read_to_string(written).unwrap_or_else(|error| panic!("{error}: {plan:?}"));
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    for (key, value) in written.as_object().unwrap() {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{key}` |")))
            .unwrap_or_else(|| panic!("{key}"));
        let shown = names(row.split(" | ").nth(1).unwrap()).concat();
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(shown.replace(' ', ""), value, "{key}");
    }
}
