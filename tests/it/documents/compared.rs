//! docs/compared.md: each row stands on tests, which are named here.

use std::path::Path;

/// How a row begins, and the tests of what it says.
const ROWS: &[(&str, &[&str])] = &[
    ("**Setup** runs on Bun", &["panes_and_keys_outlive_an_upgrade_of_this_program_and_of_herdr"]),
    (
        "it stops at the first failing check",
        &["all_checks_run_and_each_fault_has_its_fix_beside_it", "a_dry_run_does_nothing"],
    ),
    ("a comment that mentions", &["herdr_reads_chords_as_we_do", "what_the_user_bound_is_never_taken"]),
    (
        "`config.toml` is written over",
        &[
            "killed_between_any_two_steps_it_is_finished_or_taken_back_by_the_next",
            "the_first_backup_stays_and_the_next_one_is_numbered",
            "a_config_that_herdr_rejects_goes_back_with_herdrs_words",
        ],
    ),
    ("undo is `herdr config reset-keys`", &["undo_gives_back_every_byte_and_removes_what_setup_made"]),
    ("`--force` replaces", &["force_keeps_an_allow_list_and_the_local_provider_and_reset_does_not"]),
    ("the installer replaces", &["a_good_copy_further_on_path_is_used_and_nothing_is_downloaded"]),
    (
        "**Upload** filters by name",
        &[
            "names_that_the_published_list_lets_through_stay_home_too",
            "the_labelled_secrets_stay_home_and_the_look_alikes_leave",
            "links_that_lead_out_are_skipped_and_listed",
        ],
    ),
    (
        "a file deleted here",
        &[
            "a_file_deleted_in_the_worktree_does_not_stop_the_rest",
            "programs_that_the_repository_names_are_not_run",
        ],
    ),
    ("**Apply** loses", &["nothing_commits_and_amends", "settings_of_diff"]),
    (
        "one line of yours nearby",
        &["local_edits_far_nearby_and_in_the_same_line", "untracked_deleted_and_in_the_way"],
    ),
    ("a patch may make links", &["links_in_and_out"]),
    (
        "**A pane** that moves",
        &[
            "a_day_with_an_agent",
            "an_id_that_came_back_to_another_owner_is_not_bound_and_what_is_missing_is_an_orphan",
            "a_pane_that_got_the_stored_id_is_left_alone",
        ],
    ),
    (
        "after a restart panes are shells",
        &[
            "panes_come_back_by_themselves_and_a_restart_bills_nobody",
            "attach_leaves_a_restored_pane_open_in_which_something_runs",
        ],
    ),
    ("an action's outcome", &["after_a_key_success_is_a_title_and_failure_a_popup"]),
    (
        "Herdr keeps taking the pane",
        &["every_agent_is_installed_by_its_own_installer_and_herdr_lists_it_while_it_is_attached"],
    ),
    (
        "a second press",
        &["a_second_press_from_either_pane_says_what_runs_where", "twenty_starts_at_once_make_one_box"],
    ),
    (
        "a failed or closed start",
        &[
            "a_failure_after_the_box_was_made_deletes_it_or_says_how",
            "closing_the_pane_of_a_start_deletes_its_box",
            "a_start_that_is_killed_at_any_step_is_finished_by_the_next_action",
            "a_box_that_comes_after_its_create_call_failed_is_deleted",
        ],
    ),
    ("the agent starts in the wrong folder", &["the_terminal_in_the_box_has_the_panes_size_and_follows_it"]),
    ("a lost connection", &["a_lost_stream_is_attached_again_by_itself"]),
    (
        "delete leaves a dead pane",
        &[
            "delete_needs_a_second_word_and_the_pane_tells_what_happened",
            "a_key_asks_in_a_popup_with_what_is_not_applied_yet",
        ],
    ),
    ("`pause` and `resume` fail", &["old_builds_cannot_resume_and_the_reason_and_both_ways_out_are_told"]),
    ("a box beyond the first 200", &["a_box_beyond_the_first_200_rows_is_not_taken_for_gone"]),
    (
        "keys in a manifest",
        &[
            "one_command_links_the_plugin_and_writes_settings_and_keys",
            "a_key_of_this_shell_alone_is_a_warning_and_its_value_is_never_shown",
        ],
    ),
    (
        "paused boxes count",
        &["at_the_cap_your_own_boxes_are_named", "a_refusal_shows_the_providers_words_and_what_to_do"],
    ),
    (
        "an `egress` list",
        &[
            "an_install_that_cannot_work_fails_at_once_and_its_box_is_gone",
            "under_an_egress_list_the_install_is_tried_again_until_its_names_work",
        ],
    ),
    ("`sync` needs", &["sync_says_what_goes_into_the_box_and_takes_a_key_of_its_own"]),
    ("it is told of `syncExcludes`", &["what_the_upload_keeps_home_is_not_in_the_box_after_a_sync"]),
];

/// The text of every Rust file below a folder.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&std::fs::read_to_string(path).expect("text"));
        }
    }
    text
}

#[test]
fn each_row_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = super::document("docs/compared.md");
    let rows: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| ")).skip(1).collect();
    let sources = sources(&root.join("src")) + &sources(&root.join("tests"));
    assert_eq!(rows.len(), ROWS.len(), "a row without tests, or tests without a row");
    for (row, (beginning, tests)) in rows.iter().zip(ROWS) {
        assert!(row.starts_with(beginning), "[{beginning}] is not how this row begins: {row}");
        for test in *tests {
            let is_there = sources.contains(&format!("fn {test}() {{"));
            assert!(is_there, "{beginning}: no test is called {test}");
        }
    }
}
