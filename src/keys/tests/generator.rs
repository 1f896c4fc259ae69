//! What a `config.toml` may look like. The tests of the whole binary read this file too.

use proptest::prelude::*;

/// A chord as a person might write it, with Herdr's words in any order.
pub(crate) fn chord() -> impl Strategy<Value = String> {
    let modifiers =
        prop::sample::subsequence(vec!["ctrl", "Alt", "shift", "super", "hyper", "Control"], 0..3);
    let key = prop_oneof![
        prop::sample::select(vec![
            "s", "S", "x", "a", "C", "y", "i", "e", "1", "-", "tab", "F5", "minus", "ä"
        ])
        .prop_map(String::from),
        "[a-zA-Z]",
    ];
    (any::<bool>(), modifiers, key, any::<bool>()).prop_map(|(prefixed, modifiers, key, key_first)| {
        let mut words: Vec<String> = modifiers.into_iter().map(String::from).collect();
        words.insert(if key_first { 0 } else { words.len() }, key);
        format!("{}{}", if prefixed { "prefix+" } else { "" }, words.join("+"))
    })
}

fn key_value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => chord().prop_map(|chord| format!("\"{chord}\"")),
        1 => prop::collection::vec(chord(), 0..3)
            .prop_map(|chords| format!("[{}]", chords.iter().map(|c| format!("'{c}'")).collect::<Vec<_>>().join(", "))),
    ]
}

/// The fields of one command.
fn command() -> impl Strategy<Value = Vec<String>> {
    let known = prop::sample::select(vec![
        "command = \"lazygit\"",
        "command = \"createos.sandbox.start\"\u{1}type = \"plugin_action\"",
        "command = 'createos.sandbox.sync'\u{1}type = 'plugin_action'",
        "command = \"createos.sandbox.delete\"",
        "command = \"other.plugin.x\"\u{1}type = \"plugin_action\"\u{1}description = \"d # no comment\"",
    ]);
    (key_value(), known, any::<bool>()).prop_map(|(key, rest, key_first)| {
        let mut fields: Vec<String> = rest.split('\u{1}').map(String::from).collect();
        fields.insert(if key_first { 0 } else { fields.len() }, format!("key = {key}"));
        fields
    })
}

/// Fields of `[keys]`, each at most once.
fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    let names = vec!["prefix", "zoom", "close_tab", "settings", "new_tab", "bogus"];
    (prop::sample::subsequence(names, 0..4), prop::collection::vec(chord(), 4)).prop_map(|(names, chords)| {
        names.into_iter().zip(chords).map(|(name, chord)| (name.into(), format!("\"{chord}\""))).collect()
    })
}

/// Blank lines and comments, our marker among them.
pub(crate) fn junk() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "\n",
        "# a comment\n",
        "# createos-sandbox\n",
        "  # indented, [[keys.command]]\n\n",
        "# key = \"prefix+shift+s\"\n",
    ])
    .prop_map(String::from)
}

fn other_tables() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "[ui]\nsidebar_width = 30\n",
        "[ui]\nnote = \"\"\"\n# createos-sandbox\n[[keys.command]]\n\"\"\"\n",
        "[theme] # t\nname = 'nord' # n\n\n",
    ])
    .prop_map(String::from)
}

/// The commands in one of the shapes that Herdr reads, with the fields of `[keys]`.
fn keys() -> impl Strategy<Value = String> {
    let parts =
        (fields(), prop::collection::vec((junk(), command()), 0..4), 0..6_usize, any::<bool>(), junk());
    parts.prop_map(|(fields, commands, shape, flag, junk)| {
        let pairs = |separator: &str| {
            fields.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join(separator)
        };
        let inline: Vec<String> = commands.iter().map(|(_, c)| format!("{{ {} }}", c.join(", "))).collect();
        let tail = if flag && !inline.is_empty() { "," } else { "" };
        let tables = || -> String {
            let header = if flag { "[[keys.command]]" } else { "  [[ \"keys\" . command ]] # c" };
            commands.iter().map(|(above, c)| format!("{above}{header}\n{}\n", c.join("\n"))).collect()
        };
        match shape {
            0 => format!("[keys]\n{}\n{junk}{}", pairs("\n"), tables()),
            1 => format!("{}{junk}[keys]\n{}\n", tables(), pairs("\n")),
            2 => format!("[keys]\ncommand = [{}{tail}]\n{}\n", inline.join(", "), pairs("\n")),
            3 => {
                let rows: Vec<_> =
                    commands.iter().zip(&inline).map(|((above, _), row)| format!("{above}\t{row}")).collect();
                format!(
                    "[keys]\n{}\ncommand = [\n{}{tail} # end\n{junk}]\n",
                    pairs("\n"),
                    rows.join(",# c\n")
                )
            }
            4 if fields.is_empty() => format!("keys = {{ command = [{}{tail}] }}\n", inline.join(",")),
            4 => format!("keys = {{ {} }}\n", pairs(", ")),
            _ => {
                let dotted: String = fields.iter().map(|(n, v)| format!("keys.{n} = {v}\n")).collect();
                format!("{dotted}{}", tables())
            }
        }
    })
}

/// A whole file that Herdr reads: any shape, line ends, with and without a byte order mark.
pub(crate) fn file() -> impl Strategy<Value = Vec<u8>> {
    let parts = (junk(), keys(), other_tables(), junk());
    (parts, 0..3_usize, any::<bool>(), any::<bool>()).prop_map(
        |((above, keys, others, below), ends, bom, cut)| {
            let mut text = format!("{above}{keys}{others}{below}");
            if cut {
                text.truncate(text.trim_end_matches('\n').len());
            }
            let mut line = 0;
            let text: String = text
                .split_inclusive('\n')
                .map(|part| {
                    line += 1;
                    match ends {
                        1 => part.replace('\n', "\r\n"),
                        2 if line % 2 == 0 => part.replace('\n', "\r\n"),
                        _ => part.into(),
                    }
                })
                .collect();
            format!("{}{text}", if bom { "\u{feff}" } else { "" }).into_bytes()
        },
    )
}
