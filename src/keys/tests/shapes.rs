//! Where an entry goes, shape by shape; who has a chord; what undo leaves.

use super::*;

#[track_caller]
fn becomes(original: &str, expected: &str) {
    let merged = checked(original.as_bytes(), &one()).unwrap();
    assert_eq!(String::from_utf8(merged.text).unwrap(), expected);
}

const TABLE: &str = "# createos-sandbox
[[keys.command]]
key = \"prefix+shift+s\"
type = \"plugin_action\"
command = \"createos.sandbox.start\"
description = \"start an agent in a new CreateOS sandbox\"
";

const INLINE: &str = "{ key = \"prefix+shift+s\", type = \"plugin_action\", command = \"createos.sandbox.start\", description = \"start an agent in a new CreateOS sandbox\" }";

#[test]
fn an_empty_file_gets_the_block_alone() {
    becomes("", TABLE);
}

#[test]
fn a_missing_final_newline_is_added_first() {
    becomes("[ui]\nsidebar_width = 30", &format!("[ui]\nsidebar_width = 30\n\n{TABLE}"));
}

#[test]
fn without_commands_the_block_goes_to_the_end_where_no_comment_can_fall_into_it() {
    becomes(
        "[keys]\n# zoom = \"f5\"\n\n[ui]\n# end\n",
        &format!("[keys]\n# zoom = \"f5\"\n\n[ui]\n# end\n\n{TABLE}"),
    );
}

#[test]
fn with_commands_the_block_follows_the_last_one_and_its_comments() {
    let command = "[[keys.command]]\nkey = \"f5\"\ncommand = \"x\" # mine\n# width = \"80%\"\n";
    becomes(&format!("{command}\n[ui]\n"), &format!("{command}\n{TABLE}\n[ui]\n"));
    becomes(
        &format!("{command}[ui]\n"),
        &format!(
            "[[keys.command]]\nkey = \"f5\"\ncommand = \"x\" # mine\n\n{TABLE}\n# width = \"80%\"\n[ui]\n"
        ),
    );
}

#[test]
fn line_ends_and_indentation_are_those_of_the_neighbour() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    becomes(
        "# unix\n  [[keys.command]]\r\n\tkey = \"f5\"\r\n",
        &format!(
            "# unix\n  [[keys.command]]\r\n\tkey = \"f5\"\r\n\r\n{}",
            crlf(TABLE)
                .replace("# c", "  # c")
                .replace("[[", "  [[")
                .replace("key =", "\tkey =")
                .replace("type", "\ttype")
                .replace("command =", "\tcommand =")
                .replace("desc", "\tdesc")
        ),
    );
}

#[test]
fn lists_get_inline_entries() {
    becomes(
        "[keys]\ncommand = []\nzoom = \"f5\"\n",
        &format!("[keys]\ncommand = [\n  # createos-sandbox\n  {INLINE}\n]\nzoom = \"f5\"\n"),
    );
    becomes(
        "keys.command = [{ key = \"f5\" }]\n",
        &format!("keys.command = [{{ key = \"f5\" }},\n  # createos-sandbox\n  {INLINE}]\n"),
    );
    becomes(
        "[keys]\ncommand = [\n\t{ key = \"f5\" } # a, b\n]\n",
        &format!("[keys]\ncommand = [\n\t{{ key = \"f5\" }}, # a, b\n\t# createos-sandbox\n\t{INLINE}\n]\n"),
    );
    becomes(
        "[keys]\ncommand = [\n  { key = \"f5\" },\n  # { key = \"f6\" },\n]\n",
        &format!(
            "[keys]\ncommand = [\n  {{ key = \"f5\" }},\n  # createos-sandbox\n  {INLINE},\n  # {{ key = \"f6\" }},\n]\n"
        ),
    );
}

#[test]
fn inline_keys_stay_valid() {
    becomes("keys = {}\n", &format!("keys = {{ command = [\n  # createos-sandbox\n  {INLINE}\n] }}\n"));
    becomes(
        "keys = { zoom = \"f5\" } # z\n",
        &format!("keys = {{ zoom = \"f5\", command = [\n  # createos-sandbox\n  {INLINE}\n] }} # z\n"),
    );
}

#[test]
fn the_block_to_paste_is_the_block_that_is_written() {
    assert_eq!(block(&one()), TABLE);
    assert_eq!(merge(b"", &one()).unwrap().block, TABLE);
    assert_eq!(merge(b"[ui]\n\n\n", &one()).unwrap().after_line, 3);
    assert_eq!(merge(b"", &one()).unwrap().after_line, 0);
}

#[test]
fn what_the_user_bound_is_never_taken() {
    let file = "[keys]\nclose_pane = \"prefix+shift+s\"\n[[keys.command]]\nkey = \"prefix+C\"\ncommand = \"lazygit\"\n";
    let merged = checked(file.as_bytes(), &six()).unwrap();
    let placed = |action: &str| merged.placed.iter().find(|placed| placed.action == action).unwrap();
    assert_eq!(placed("start").chord.unwrap().to_string(), "prefix+alt+s");
    let refused = placed("start").instead_of.as_ref().unwrap();
    assert_eq!(refused.holder, Holder::User { field: "close_pane".into(), line: 2 });
    assert_eq!(placed("attach").chord.unwrap().to_string(), "prefix+alt+c");
    assert_eq!(placed("attach").instead_of.as_ref().unwrap().holder.to_string(), "yours (lazygit, line 3)");
    assert_eq!(placed("delete").displaces.as_deref(), Some("close_tab"));
    assert_eq!(placed("info").instead_of, None);
}

#[test]
fn the_prefix_and_our_own_choices_are_taken_too() {
    let mut wanted = six();
    wanted[1].chord = wanted[0].chord;
    let merged = checked(b"[keys]\nprefix = \"shift+s\"\n", &wanted).unwrap();
    let holders: Vec<_> =
        merged.placed.iter().map(|placed| placed.instead_of.clone().map(|r| r.holder)).collect();
    assert_eq!(holders[..3], [Some(Holder::Prefix), Some(Holder::Prefix), None]);
    let chords: Vec<_> = merged.placed.iter().map(|placed| placed.chord.unwrap().to_string()).collect();
    assert_eq!(chords[..2], ["prefix+alt+s", "prefix+shift+e"]);

    let merged = checked(b"", &wanted).unwrap();
    assert_eq!(
        merged.placed[1].instead_of.as_ref().unwrap().holder,
        Holder::Action { action: "start".into() }
    );
}

#[test]
fn nobodys_second_choice_takes_anothers_first() {
    let mut wanted = six();
    wanted[2].chord = "prefix+alt+s".parse().unwrap();
    let merged = checked(b"[keys]\nzoom = \"prefix+shift+s\"\n", &wanted).unwrap();
    assert_eq!(merged.placed[0].chord.unwrap().to_string(), "prefix+shift+e");
    assert_eq!(merged.placed[2].chord.unwrap().to_string(), "prefix+alt+s");
}

#[test]
fn observing_says_what_is_bound_and_what_herdr_drops() {
    let file = "[keys]\nzoom = \"prefix+shift+s\"\n[[keys.command]]\nkey = [\"prefix+S\", \"s\", \"f9\"]\n\
                type = \"plugin_action\"\ncommand = \"createos.sandbox.start\"\n\
                [[keys.command]]\nkey = \"prefix+X\"\ntype = \"plugin_action\"\ncommand = \"createos.sandbox.delete\"\n";
    let observed = observe(file.as_bytes(), &six()).unwrap();
    let State::Bound { live, lost, line } = &observed.actions[0].state else { panic!("{observed:?}") };
    assert_eq!((live.len(), live[0].chord.to_string().as_str(), *line), (1, "f9", 3));
    assert_eq!(lost[0].reason, Reason::Taken(Holder::User { field: "zoom".into(), line: 2 }));
    assert_eq!(lost[1].reason, Reason::Refused(ChordError::Typing));
    let State::Bound { live, .. } = &observed.actions[5].state else { panic!("{observed:?}") };
    assert_eq!(live[0].displaces.as_deref(), Some("close_tab"));
    let State::Missing { taken, .. } = &observed.actions[1].state else { panic!("{observed:?}") };
    assert_eq!(*taken, None);
}

#[test]
fn an_empty_file_lacks_all_six_and_close_tab_would_give_way() {
    let observed = observe(b"", &six()).unwrap();
    let State::Missing { taken, .. } = &observed.actions[5].state else { panic!("{observed:?}") };
    assert_eq!(*taken, Some(Holder::Default { field: "close_tab".into() }));
}

#[test]
fn errors_have_line_and_column() {
    let error = |text: &[u8]| merge(text, &six()).unwrap_err().to_string();
    assert_eq!(error(b"[ui]\r\na = \"\xff\"\n"), "line 2, column 6: not UTF-8");
    assert!(
        error("\u{feff}[ui".as_bytes()).starts_with("line 1, column 4: "),
        "{}",
        error("\u{feff}[ui".as_bytes())
    );
    assert_eq!(error(b"\nkeys.command = 3\n"), "line 2: keys.command must be a list of tables");
    assert_eq!(error(b"[keys]\nzoom = \"f5\"\nfullscreen = \"f5\"\n").split(':').next(), Some("line 2"));
}

#[test]
fn undo_finds_the_entries_in_any_shape() {
    let merged = merge(b"[ui]\nsidebar_width = 30\n", &six()).unwrap();
    let added = merged.added.unwrap();
    let entry = |action: &str, chord: &str| {
        let words = six().into_iter().find(|wanted| wanted.action == action).unwrap().description;
        format!(
            "{{description=\"{words}\",command=\"createos.sandbox.{action}\",type='plugin_action',key=[\"{chord}\"]}}"
        )
    };
    let rewritten = format!(
        "keys = {{command=[{}, {{key=\"f5\",command=\"mine\"}},{}]}}\n[ui]\nsidebar_width = 31\n",
        entry("start", "prefix+S"),
        entry("delete", "prefix+shift+x"),
    );
    let undone = unmerge(rewritten.as_bytes(), &added).unwrap();
    assert_eq!(
        String::from_utf8(undone.text).unwrap(),
        "keys = {command=[{key=\"f5\",command=\"mine\"}]}\n[ui]\nsidebar_width = 31\n"
    );
    assert_eq!((undone.removed.len(), undone.left.len()), (2, 4));
}

#[test]
fn undo_keeps_what_was_written_around_and_between_our_entries() {
    let merged = merge(b"[[keys.command]]\nkey = \"f5\"\ncommand = \"x\"", &six()[..2]).unwrap();
    let mut text = String::from_utf8(merged.text).unwrap();
    text = text.replace("\n[[keys.command]]\nkey = \"prefix+shift+c", "\n# my own\n[[keys.command]]\nkey = \"f6\"\ncommand = \"y\"\n\n[[keys.command]]\nkey = \"prefix+shift+c");
    text.push_str("[ui]\nsidebar_width = 30\n");
    let undone = unmerge(text.as_bytes(), merged.added.as_ref().unwrap()).unwrap();
    assert_eq!(
        String::from_utf8(undone.text).unwrap(),
        "[[keys.command]]\nkey = \"f5\"\ncommand = \"x\"\n\n# my own\n[[keys.command]]\nkey = \"f6\"\ncommand = \"y\"\n[ui]\nsidebar_width = 30\n"
    );
}

#[test]
fn undo_never_fuses_lines_that_grew_below_the_block() {
    let merged = merge(b"a = 1", &one()).unwrap();
    let text = [merged.text.as_slice(), b"[ui]\nsidebar_width = 30\n"].concat();
    let undone = unmerge(&text, merged.added.as_ref().unwrap()).unwrap();
    assert_eq!(String::from_utf8(undone.text).unwrap(), "a = 1\n[ui]\nsidebar_width = 30\n");
}

#[test]
fn an_entry_that_got_another_chord_is_still_ours_unless_there_are_two() {
    let merged = merge(b"", &one()).unwrap();
    let added = merged.added.unwrap();
    let moved = TABLE.replace("prefix+shift+s", "f9");
    assert_eq!(unmerge(moved.as_bytes(), &added).unwrap().removed.len(), 1);
    let two = format!("{moved}{}", TABLE.replace("prefix+shift+s", "f10"));
    let undone = unmerge(two.as_bytes(), &added).unwrap();
    assert_eq!((undone.text, undone.left.len()), (two.into_bytes(), 1));
}

#[test]
fn an_entry_in_somebodys_own_words_is_his() {
    let added = merge(b"", &six()).unwrap().added.unwrap();
    let his = TABLE.replace("start an agent in a new CreateOS sandbox", "my own words");
    let wider = format!("{TABLE}width = 3\n");
    let without = TABLE.lines().filter(|line| !line.starts_with("desc")).collect::<Vec<_>>().join("\n");
    for text in [his, wider, without] {
        // The marker was ours; what stands below it is not.
        let undone = unmerge(text.as_bytes(), &added).unwrap();
        assert_eq!((String::from_utf8(undone.text).unwrap(), undone.removed.len()), (text, 0));
    }
    // A receipt of an earlier version does not know our words.
    let mut known = added.clone();
    known.entries.iter_mut().for_each(|binding| binding.description = None);
    let his = TABLE.replace("start an agent in a new CreateOS sandbox", "my own words");
    assert_eq!(unmerge(his.as_bytes(), &known).unwrap().text, b"");
}

#[test]
fn comments_in_our_entries_are_the_users_and_stay() {
    let merged = merge(b"[ui]\n", &six()[..2]).unwrap();
    let text = String::from_utf8(merged.text).unwrap();
    let text = text.replacen("[[keys.command]]\n", "[[keys.command]] # one\n  # two \"\n", 1);
    let text = text.replacen(
        "\"createos.sandbox.attach\"\n",
        "\"createos.sandbox.attach\" # three # 3\n# four\n",
        1,
    );
    let text = text + "# below\n";
    let undone = unmerge(text.as_bytes(), merged.added.as_ref().unwrap()).unwrap();
    assert_eq!(undone.removed.len(), 2);
    let rest = String::from_utf8(undone.text).unwrap();
    assert_eq!(rest, "[ui]\n\n# one\n  # two \"\n\n# three # 3\n# four\n# below\n");

    let merged = merge(b"[keys]\ncommand = [\n\t{ key = \"f5\" },\n]\n", &six()[..2]).unwrap();
    let text = String::from_utf8(merged.text).unwrap();
    let text = text.replacen("sandbox\" },\n", "sandbox\" }, # mine\n", 1);
    assert_eq!(text.matches("# mine").count(), 1);
    let undone = unmerge(text.as_bytes(), merged.added.as_ref().unwrap()).unwrap();
    let rest = String::from_utf8(undone.text).unwrap();
    assert_eq!(rest, "[keys]\ncommand = [\n\t{ key = \"f5\" },\n\t# mine\n]\n");
}

#[test]
fn entries_that_stand_together_have_one_marker() {
    for original in ["[ui]\n", "[keys]\ncommand = [\n  { key = \"f5\" },\n]\n", "keys = { zoom = \"f5\" }\n"]
    {
        let first = merge(original.as_bytes(), &six()[..3]).unwrap();
        let second = merge(&first.text, &six()).unwrap();
        let text = String::from_utf8(second.text.clone()).unwrap();
        assert_eq!(text.matches("# createos-sandbox").count(), 1, "{text}");
        // The first one of ours goes alone: the others keep the marker.
        let added = first.added.as_ref().unwrap();
        let alone = Added { entries: vec![added.entries[0].clone()], patch: added.patch.clone() };
        let rest = unmerge(&second.text, &alone).unwrap();
        let text = String::from_utf8(rest.text.clone()).unwrap();
        assert_eq!(text.matches("# createos-sandbox").count(), 1, "{text}");
        assert!(!text.contains("# createos-sandbox\n\n") && !text.contains("sandbox.start"), "{text}");
        // And back to the original, whatever was taken out before.
        let rest = unmerge(&rest.text, second.added.as_ref().unwrap()).unwrap();
        let rest = unmerge(&rest.text, added).unwrap();
        let rest = String::from_utf8(rest.text).unwrap();
        assert_eq!(meaning(rest.as_bytes()), meaning(original.as_bytes()), "{rest}");
        assert!(!rest.contains("createos"), "{rest}");
    }
    // Another's entry between: a marker of its own.
    let first = merge(b"[ui]\n", &six()[..3]).unwrap();
    let text = [first.text.as_slice(), b"\n[[keys.command]]\nkey = \"f5\"\ncommand = \"x\"\n"].concat();
    let second = String::from_utf8(merge(&text, &six()).unwrap().text).unwrap();
    assert_eq!(second.matches("# createos-sandbox").count(), 2, "{second}");
}

#[test]
fn the_prefix_is_the_users_where_herdr_can_read_it() {
    let prefix = |text: &str| observe(text.as_bytes(), &six()).unwrap().prefix;
    assert_eq!(prefix(""), "ctrl+b");
    assert_eq!(prefix("[keys]\nprefix = \"Control+a\"\n"), "ctrl+a");
    assert_eq!(prefix("keys.prefix = \"not a key\"\n"), "ctrl+b");
}

#[test]
fn after_everything_is_gone_undo_has_nothing_to_do() {
    let added = merge(b"", &six()).unwrap().added.unwrap();
    for text in ["", "[ui]\n", "[keys]\ncommand = []\n", "keys = { command = [] }\n"] {
        let undone = unmerge(text.as_bytes(), &added).unwrap();
        assert_eq!((undone.text.as_slice(), undone.left.len()), (text.as_bytes(), 6));
    }
}

#[test]
fn descriptions_are_quoted() {
    let mut wanted = one();
    wanted[0].description = "a \"b\" \\ \u{1b}\n".into();
    wanted[0].chord = "prefix+double_quote".parse().unwrap();
    checked(b"[keys]\ncommand = []\n", &wanted).unwrap();
    checked(b"", &wanted).unwrap();
}

#[test]
fn receipts_read_back() {
    let added = merge("[[keys.command]]\r\nkey = \"f5\"".as_bytes(), &six()).unwrap().added.unwrap();
    let stored = serde_json::to_string(&added).unwrap();
    assert_eq!(serde_json::from_str::<Added>(&stored).unwrap(), added);
}
