//! A box whose own programs lie: a clear refusal, and nothing here is touched.

use super::{Pair, ROW, Table, result};

/// Puts a program before the real one of that name for every shell of the box; `$real` is the real one.
pub fn lie(pair: &Pair<'_>, program: &str, script: &str) {
    let text =
        format!("#!/bin/bash\nreal=$(PATH=/usr/local/bin:/usr/bin:/bin type -P {program})\n{script}\n");
    pair.agent(&format!(
        "mkdir -p ~/lies; echo 'PATH=~/lies:$PATH' > ~/.bash_profile; rm -f ~/lies/*
         cat > ~/lies/{program} <<'LIE'\n{text}\nLIE\nchmod +x ~/lies/{program}"
    ));
}

#[test]
fn words_without_end_are_cut() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent("echo agent > a.txt; echo 'yes createos-sandbox: parcel=/etc/passwd' > ~/.bash_profile");
    let before = pair.here();
    let applied = pair.apply().fails(1, "64");
    assert_eq!(result(&applied)["ok"], false);
    assert_eq!(pair.here(), before);
}

fn honest(pair: &Pair<'_>) {
    pair.agent("rm -f ~/.bash_profile ~/lies/*");
}

/// Each lie: the program, what it does, and the words of the refusal.
const LIES: [(&str, &str, &str, &str); 9] = [
    (
        "wrong hashes",
        "sha256sum",
        r#"case "$*" in *-z*) "$real" "$@" | tr 0-8 1-9;; *) exec "$real" "$@";; esac"#,
        "the box's files do not match its own list, nothing was changed",
    ),
    (
        "other contents than hashed",
        "tar",
        r#"case "$*" in *-cf*) cp new ~/n; echo lie > new; "$real" "$@"; cp ~/n new;; *) exec "$real" "$@";; esac"#,
        "the box's files do not match its own list, nothing was changed",
    ),
    (
        "an extra file",
        "tar",
        r#"case "$*" in *-cf*) "$real" "$@" > ~/t.tar; cd ~; echo evil > extra
           "$real" -rf t.tar --format=gnu --transform 's,^,./,' extra; cat t.tar;; *) exec "$real" "$@";; esac"#,
        "it sends extra, which its list does not name",
    ),
    (
        "the way up, in the list",
        "git",
        r#"case "$*" in *ls-files*) echo evil > /tmp/evil; "$real" "$@"; printf '../tmp/evil\0';; *) exec "$real" "$@";; esac"#,
        "it names a path that leaves the worktree: \"../tmp/evil\"",
    ),
    (
        "the way up, in the archive",
        "tar",
        r#"case "$*" in *-cf*) "$real" "$@" > ~/t.tar; cd ~; echo evil > extra
           "$real" -P -rf t.tar --format=gnu --transform 's,^,./../../,' extra; cat t.tar;; *) exec "$real" "$@";; esac"#,
        "it sends a path that leaves the worktree: \"./../../extra\"",
    ),
    (
        "an absolute path",
        "tar",
        r#"case "$*" in *-cf*) exec "$real" -P --format=gnu -cf - /etc/hostname;; *) exec "$real" "$@";; esac"#,
        "its parcel does not begin with its lists",
    ),
    (
        "a link for a file",
        "tar",
        r#"case "$*" in *-cf*) mv new ~/n; ln -s /etc/passwd new; "$real" "$@"; mv -f ~/n new;; *) exec "$real" "$@";; esac"#,
        "the box's files do not match its own list, nothing was changed",
    ),
    (
        "a hard link out",
        "tar",
        r#"case "$*" in *-cf*) "$real" "$@" > ~/t.tar; cp a.txt ~/one; cd ~; ln -f one two
           "$real" --delete -f t.tar ./a.txt ./new
           "$real" -rf t.tar --format=gnu --transform 's,^two,./new,r;s,^one,./a.txt,r;s,^one,../../etc/passwd,h' one two
           cat t.tar;; *) exec "$real" "$@";; esac"#,
        "it sends new as something that is neither file nor link",
    ),
    (
        "a parcel without end",
        "gzip",
        r"head -c 100 > /dev/null; truncate -s 3G /dev/stdout",
        "are too large to bring home at once",
    ),
];

#[test]
fn every_lie_is_refused_in_words_and_touches_nothing() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent("echo agent > a.txt; echo new > new");
    let around = |pair: &Pair<'_>| {
        pair.user("cd ..; find . -path ./row1 -prune -o -path ./.local -prune -o -name evil -print -o -name extra -print")
    };
    let before = (pair.here(), around(&pair));
    for (what, program, script, words) in &LIES {
        lie(&pair, program, script);
        let applied = pair.apply();
        assert_eq!(applied.code, 1, "{what}: {applied:?}");
        assert!(applied.stderr.contains(words), "{what}: [{words}] is not in {applied:?}");
        assert_eq!(result(&applied)["ok"], false, "{what}: {applied:?}");
        assert_eq!((pair.here(), around(&pair)), before, "{what}");
    }
    honest(&pair);
    let _ = pair.apply().success();
    assert_eq!(pair.here(), pair.there());
}
