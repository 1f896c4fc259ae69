# elsewhere: what was made in the box and is not in the checked-out tree: commits on other refs, stashes, linked
# worktrees, and repositories inside the workspace. A line each: KIND COUNT PLACE:NAME, the last two in base64
# (they may be any bytes); PLACE is empty for the workspace's own repository.
need base64 timeout

cd -P "$root" 2>/dev/null || stop gone "$root"
here=$PWD

record() { # record KIND COUNT PLACE [NAME]
    say work "$1 $2 $(printf '%s' "$3" | base64 -w0):$(printf '%s' "${4:-}" | base64 -w0)"
}

g() { # g FOLDER ARGUMENTS…: git without the programs that a repository's settings name
    local folder=$1
    shift
    timeout 60 git -C "$folder" -c core.fsmonitor=false -c core.hooksPath=/dev/null -c log.showSignature=false \
        --no-optional-locks --no-pager "$@" 2>/dev/null
}

commits() { # commits FOLDER REVISIONS…: how many
    local folder=$1
    shift
    g "$folder" rev-list --count "$@" --
}

changes() { # changes FOLDER: how many files differ from its commit
    local number
    number=$(
        set -o pipefail
        g "$1" status --porcelain -z --no-renames --untracked-files=all | tr -cd '\0' | wc -c
    ) && printf '%s' "$((number))"
}

place_of() { # place_of FOLDER: as seen from the workspace
    case $1 in "$here") ;; "$here"/*) printf '%s' "${1#"$here"/}" ;; *) printf '%s' "$1" ;; esac
}

told() { # told KIND NUMBER PLACE: none is nothing to tell, and no number is nothing that is known
    case $2 in 0) ;; '') record unknown 1 "$3" ;; *) record "$1" "$2" "$3" ;; esac
}

# Commits that nothing leads to but the memory of a checkout without a branch.
detached() { # detached FOLDER PLACE
    local folder=$1 place=$2 from number
    g "$folder" log -g --format=%gs HEAD -- | sed -n 's/^checkout: moving from \([0-9a-f]\{40,64\}\) to .*/\1/p' |
        sort -u | head -n 50 | while IFS= read -r from; do
            number=$(commits "$folder" "$from" --not HEAD --branches --tags --remotes) || continue
            [ "$number" -eq 0 ] || record detached "$number" "$place" "${from:0:10}"
        done
}

# The workspace's own: the tree of its HEAD comes home as files, and the upload came from there.
refs() { # refs FOLDER HOME…
    local folder=$1 entry number tree
    shift
    tree=$(g "$folder" rev-parse -q --verify 'HEAD^{tree}')
    g "$folder" for-each-ref --format='%(refname)' | head -n 1000 | while IFS= read -r entry; do
        case $entry in refs/remotes/* | refs/stash | refs/bisect/*) continue ;; esac
        number=$(commits "$folder" "$entry" --not "$@" --remotes) || continue
        [ "$number" -ne 0 ] || continue
        [ "$(g "$folder" rev-parse -q --verify "$entry^{tree}")" != "$tree" ] || continue
        case $entry in
            refs/heads/*) record branch "$number" "" "${entry#refs/heads/}" ;;
            refs/tags/*) record tag "$number" "" "${entry#refs/tags/}" ;;
            *) record ref "$number" "" "$entry" ;;
        esac
    done
}

# Another one inside the workspace: what no remote of it has.
nested() { # nested FOLDER PLACE
    local folder=$1 place=$2 head=() since=()
    ! g "$folder" rev-parse -q --verify HEAD >/dev/null || head=(HEAD)
    told commits "$(commits "$folder" --branches ${head[@]+"${head[@]}"} --not --remotes)" "$place"
    # A clone's tags are somebody else's, but for those that are younger than the box.
    [ -z "$(g "$folder" remote)" ] || since=("--since=@$(stat -c %Y "$store/prepared" 2>/dev/null || echo 0)")
    told tagged "$(commits "$folder" --tags ${since[@]+"${since[@]}"} --not --branches ${head[@]+"${head[@]}"} --remotes)" "$place"
    # Files of a folder that became a repository later are the workspace's all the same, and come home.
    grep -zqF " $place/" "$store/base.list" 2>/dev/null || told files "$(changes "$folder")" "$place"
}

repository() { # repository FOLDER COMMON
    local folder=$1 common=$2 place number head home=() entry worktree
    place=$(place_of "$folder")
    head=$(g "$folder" rev-parse -q --verify HEAD)
    number=$(g "$folder" log -g --format=%H refs/stash -- | wc -l)
    [ "$((number))" -ne 0 ] || ! g "$folder" rev-parse -q --verify refs/stash >/dev/null || number=1
    told stash "$((number))" "$place"
    detached "$folder" "$place"
    if [ -z "$place" ]; then
        entry=$(cat "$store/baseline" 2>/dev/null)
        for entry in "$head" "$entry"; do
            [ -z "$entry" ] || ! g "$folder" cat-file -e "$entry^{commit}" || home+=("$entry")
        done
        refs "$folder" ${home[@]+"${home[@]}"}
    else
        nested "$folder" "$place"
    fi
    for entry in "$common"/worktrees/*/gitdir; do
        [ -f "$entry" ] || continue
        IFS= read -r worktree <"$entry"
        case $worktree in /*) ;; *) worktree=${entry%/*}/$worktree ;; esac
        worktree=$(cd -P "${worktree%/.git}" 2>/dev/null && pwd) || continue
        # The workspace itself may be a linked worktree: its files are those that come home.
        [ "$worktree" != "$here" ] || continue
        place=$(place_of "$worktree")
        told files "$(changes "$worktree")" "$place"
        g "$worktree" symbolic-ref -q HEAD >/dev/null ||
            told commits "$(commits "$worktree" HEAD --not --branches --tags --remotes ${home[@]+"${home[@]}"})" "$place"
        detached "$worktree" "$place"
    done
}

declare -A seen=()
look() { # look FOLDER
    local folder=$1 common
    common=$(g "$folder" rev-parse --git-common-dir) &&
        common=$(cd -P "$folder" && cd -P "$common" 2>/dev/null && pwd) || common=
    if [ -z "$common" ]; then
        # git does not take it for a repository, or refuses to look.
        record unknown 1 "$(place_of "$folder")"
        return
    fi
    [ -z "${seen[$common]+seen}" ] || return 0
    seen[$common]=1
    repository "$folder" "$common"
}

[ ! -e .git ] || look "$here"
while IFS= read -r -d '' entry; do
    look "$here/${entry%/.git}"
done < <(find . -path ./.git -prune -o -name .git -prune -printf '%P\0' 2>/dev/null | head -zn 500)
say elsewhere yes
