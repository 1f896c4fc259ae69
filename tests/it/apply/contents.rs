//! Contents are bytes, whatever git would make of them.

use super::{ROW, Row, Table, Then};

/// Files of one text whose lines end in every way, under attributes that git would follow.
const ATTRIBUTES: &str = r"
printf '%s\n' '*.bat text eol=crlf' '*.lf text eol=lf' '*.bin filter=lfs diff=lfs merge=lfs -text' \
    '*.c filter=upper' '*.u text working-tree-encoding=UTF-16' > .gitattributes
git config core.autocrlf true
git config core.safecrlf false
git config filter.upper.clean 'tr a-z A-Z'
for name in a.bat b.lf c.bin e.c plain; do printf 'one\r\ntwo\nthree\r\n' > $name; done
printf 'one\n' | iconv -t UTF-16 > d.u";

/// From now on git here cannot even add a file: the program of the filter is missing.
const NO_LFS: &str = "
git config filter.lfs.clean 'git-lfs-that-is-not-there clean -- %f'
git config filter.lfs.process 'git-lfs-that-is-not-there filter-process'
git config filter.lfs.required true
if git hash-object --path=c.bin c.bin 2>/dev/null; then exit 1; fi";

#[test]
fn line_ends_filters_and_lfs_without_its_program() {
    Table::run(&[
        Row {
            name: "CRLF, eol=crlf, autocrlf, LFS, a clean filter and an encoding",
            start: ATTRIBUTES,
            agent: r"for name in a.bat b.lf c.bin e.c plain; do printf 'four\r\n' >> $name; done
                     printf 'two\n' | iconv -t UTF-16 > d.u; git add -A; git commit -qm x",
            user: NO_LFS,
            then: Then::Alike,
        },
        Row {
            name: "the same with an edit on both sides",
            start: ATTRIBUTES,
            agent: r"for name in a.bat b.lf c.bin e.c plain; do printf 'four\r\n' >> $name; done",
            user: "for name in a.bat b.lf c.bin e.c plain; do sed -i 's/one/ONE/' $name; done",
            then: Then::Applied(
                r"for name in a.bat b.lf c.bin e.c plain; do
                      printf 'ONE\r\ntwo\nthree\r\nfour\r\n' | cmp - $name
                  done",
            ),
        },
    ]);
}

#[test]
fn binary_empty_and_without_a_last_line_feed() {
    Table::run(&[
        Row {
            name: "binary, empty, no line feed, zero bytes and lines without end",
            start: r"printf '\0\1\2' > bin; : > was-empty; printf x > noeol; seq 9 > a.txt",
            agent: r"printf '\0\377\n\r\0' > bin; echo now > was-empty; : > a.txt; printf y > noeol
                     : > new-empty; head -c 100000 /dev/zero > zeros; head -c 100000 /dev/urandom > random",
            ..ROW
        },
        Row {
            name: "binary on both sides",
            start: r"printf '\0\1\2' > bin",
            agent: r"printf '\0\1\3' > bin; echo innocent > innocent",
            user: r"printf '\0\1\4' > bin",
            then: Then::Clash(&[("bin", "both sides changed it, and it is no text")]),
        },
    ]);
}

#[test]
fn modes_alone_and_with_contents() {
    Table::run(&[
        Row {
            name: "mode only",
            agent: "chmod +x run.sh; git commit -qam mode; echo '#!/bin/sh' > new.sh; chmod 755 new.sh",
            ..ROW
        },
        Row {
            name: "modes that the user chose stay",
            user: "chmod 600 a.txt; chmod 750 run.sh",
            agent: "echo more >> a.txt; echo more >> run.sh",
            then: Then::Applied("test $(stat -c %a a.txt) = 600 -a $(stat -c %a run.sh) = 750"),
            ..ROW
        },
        Row {
            name: "mode there, contents here",
            agent: "chmod +x a.txt",
            user: "echo mine >> a.txt",
            then: Then::Applied("test -x a.txt; test \"$(tail -n 1 a.txt)\" = mine"),
            ..ROW
        },
        Row {
            name: "contents there, mode here",
            agent: "echo theirs >> run.sh; echo x > d/b.txt",
            user: "chmod +x run.sh; chmod 444 d/b.txt",
            then: Then::Applied(
                "test -x run.sh; test \"$(tail -n 1 run.sh)\" = theirs; test $(stat -c %a d/b.txt) = 444",
            ),
            ..ROW
        },
    ]);
}
