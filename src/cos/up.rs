//! `cos up`: the project's own box, made once.

use super::clean_up;
use super::egress;
use super::environment;
use super::make::Wish;
use super::name::command;
use super::project::Project;
use super::providers::Providers;
use super::refused::{refused, to_make, with_ways};
use super::say::say;
use super::state::{ProjectBox, StateFolder};
use crate::cli::UpArgs;
use crate::createos::{BoxId, BoxName, BoxView, Provider, Refusal, Status};
use crate::error::{Error, Result};
use crate::exit::Exit;
use std::collections::BTreeSet;
use std::time::Duration;

const SHAPE: &str = "s-2vcpu-2gb";
/// How long a box may take to run.
const UP: Duration = Duration::from_secs(60);
/// The members of a record, as the earlier driver has them.
const MEMBERS: [&str; 11] = [
    "id",
    "name",
    "shape",
    "owned",
    "sync_pid",
    "sync_dir",
    "sync_remote",
    "sync_mode",
    "fork_ids",
    "cluster_net",
    "cluster_ids",
];

/// Makes the box, or brings back the one that there is.
///
/// # Errors
/// The provider's refusal, a box of that name that is nobody's here, or another name than the box has.
pub(super) fn up(providers: &Providers, args: &UpArgs) -> Result<Exit> {
    let project = Project::here()?;
    let named: Option<BoxName> = args.name.as_deref().map(name).transpose()?;
    let egress = egress::rules(&args.of, providers.paths.home(), &project.root)?;
    let env = environment::read(&args.env)?;
    let wish = Wish::read(&args.of, SHAPE, egress, env)?;
    let state = StateFolder::of(&providers.paths)?;
    let _alone = state.lock(&project.key)?;
    clean_up::tidy(&state, &project.key)?;
    if let Some(own) = state.project_box(&project.key)?
        && reuse(providers, &state, &project, own, named.as_ref(), args, &wish)?
    {
        return Ok(Exit::DONE);
    }
    let name = match named {
        Some(name) => name,
        None => {
            format!("cos-proj-{}", project.key).parse().map_err(|error| Error::failed(format!("{error}")))?
        }
    };
    let provider = providers.new_boxes()?;
    if args.adopt
        && let Some(id) = provider.find_by_name(&name).map_err(refused)?
    {
        adopt(&provider, &state, &project, &name, &id)?;
        return Ok(Exit::DONE);
    }
    make(&provider, &state, &project, &name, &wish)
}

/// A name of a box: at most 22 of `a-z`, `0-9` and `-`.
fn name(text: &str) -> Result<BoxName> {
    text.parse().map_err(|error| {
        Error::usage(format!("-n: {error}")).help("use 1 to 22 of a-z, 0-9 and -, not beginning with a dash")
    })
}

fn make(
    provider: &Provider,
    state: &StateFolder,
    project: &Project,
    name: &BoxName,
    wish: &Wish,
) -> Result<Exit> {
    wish.tell_of_egress();
    let mut own = ProjectBox::default();
    MEMBERS.iter().for_each(|member| own.set(member, ""));
    own.set("name", name.as_str());
    own.set("shape", wish.shape.as_str());
    own.set("owned", "1");
    own.set("provider", provider.kind().word());
    state.keep_project_box(&project.key, &own)?;
    let id = match provider.create(&wish.spec(name)) {
        Ok(id) => id,
        Err(failure) => {
            let may_be_there = failure.may_have_happened();
            if !may_be_there {
                state.forget_project_box(&project.key)?;
            }
            if failure.refusal == Refusal::NameTaken {
                return Err(taken(provider, name));
            }
            let error = to_make(failure, wish.shape.as_str());
            return Err(if may_be_there {
                error.help(format!("its box may still come: {} looks for it", command("up")))
            } else {
                error
            });
        }
    };
    own.set("id", id.as_str());
    state.keep_project_box(&project.key, &own)?;
    let up = provider.wait_running(&id, UP);
    up.map_err(|failure| with_ways(refused(failure), provider, id.as_str()))?;
    say(format!("box {name} ({id}) is up; how to run a command in it: {}", command("run").flag("--help")));
    Ok(Exit::DONE)
}

/// A box of that name is there, and not on record here.
fn taken(provider: &Provider, name: &BoxName) -> Error {
    let adopt = command("up").flag("-a").with("-n", name.as_str());
    let error = Error::failed(format!("a box named {name} is there already, and no project here has it"))
        .help(format!("take it, it is never deleted then: {adopt}"));
    match provider.find_by_name(name) {
        Ok(Some(id)) => {
            error.help(format!("or delete it: {}", provider.shown(&["rm", "--yes", id.as_str()])))
        }
        Ok(None) | Err(_) => error.help("or take another name with -n"),
    }
}

fn adopt(
    provider: &Provider,
    state: &StateFolder,
    project: &Project,
    name: &BoxName,
    id: &BoxId,
) -> Result<()> {
    let view = provider.get(id).map_err(refused)?;
    let mut own = ProjectBox::default();
    MEMBERS.iter().for_each(|member| own.set(member, ""));
    own.set("id", id.as_str());
    own.set("name", name.as_str());
    own.set("owned", "0");
    own.set("provider", provider.kind().word());
    state.keep_project_box(&project.key, &own)?;
    wake(provider, id, &view)?;
    say(format!("adopted existing box {name} ({id}); down will not delete it"));
    Ok(())
}

/// Brings the project's box back; `false` when it is gone, and so is its record.
fn reuse(
    providers: &Providers,
    state: &StateFolder,
    project: &Project,
    mut own: ProjectBox,
    named: Option<&BoxName>,
    args: &UpArgs,
    wish: &Wish,
) -> Result<bool> {
    let provider = providers.of(own.provider())?;
    let name = own.name().map_or_else(|| "?".to_owned(), |name| name.to_string());
    let id = match own.id() {
        Some(id) => id,
        // The call that made it was killed, or got no answer.
        None => {
            match own.name().map(|name| provider.find_by_name(&name)).transpose().map_err(refused)?.flatten()
            {
                Some(id) => {
                    own.set("id", id.as_str());
                    state.keep_project_box(&project.key, &own)?;
                    id
                }
                None => {
                    state.forget_project_box(&project.key)?;
                    return Ok(false);
                }
            }
        }
    };
    let Some(view) = look(&provider, state, project, &own, &id)? else { return Ok(false) };
    if let Some(other) = named.filter(|other| other.as_str() != name) {
        return Err(Error::failed(format!(
            "project box {name} is already up — one project box per directory."
        ))
        .help(format!("delete it before you make {other}: {}", command("down"))));
    }
    wake(&provider, &id, &view)?;
    say(format!("reusing box {name} ({id})"));
    if args.of.shape.is_some() && own.shape() != wish.shape.as_str() && !own.shape().is_empty() {
        say(format!("it keeps its shape {}, not {}", own.shape(), wish.shape));
    }
    let asks = !wish.egress.is_empty() || args.of.egress_all;
    let (has, wants): (BTreeSet<&String>, BTreeSet<&String>) =
        (view.egress.iter().collect(), wish.egress.iter().collect());
    if asks && has != wants {
        let has = if has.is_empty() { "everything".to_owned() } else { view.egress.join(", ") };
        say(format!("it keeps what it may reach: {}", crate::ui::visible_line(&has)));
    }
    if args.of.rootfs.is_some() || !wish.env.is_empty() {
        say("it keeps its image and its variables");
    }
    Ok(true)
}

/// What the provider says of the project's box; `None` when it is proven to be gone, which is said, and the record
/// cleared.
///
/// # Errors
/// The provider cannot be asked, or what it does not find is not proven to be gone.
pub(super) fn look(
    provider: &Provider,
    state: &StateFolder,
    project: &Project,
    own: &ProjectBox,
    id: &BoxId,
) -> Result<Option<BoxView>> {
    let failure = match provider.get(id) {
        Ok(view) if view.status != Status::Destroyed => return Ok(Some(view)),
        Ok(_) => None,
        Err(failure) if failure.refusal == Refusal::NotFound => Some(failure),
        Err(failure) => return Err(refused(failure)),
    };
    let mut ours = state.ours();
    ours.extend(own.forks());
    if let Some(failure) = failure.filter(|_| true)
        && !provider.is_gone(id, &ours).map_err(refused)?
    {
        return Err(refused(failure)
            .fact("box", id.as_str())
            .help("that it is not found is no proof: another account may be signed in"));
    }
    let name = own.name().map_or_else(|| id.to_string(), |name| name.to_string());
    say(format!("box {name} was deleted elsewhere: it is forgotten here"));
    state.forget_project_box(&project.key)?;
    Ok(None)
}

/// Sees to it that a box runs.
fn wake(provider: &Provider, id: &BoxId, view: &BoxView) -> Result<()> {
    match view.status {
        Status::Running => return Ok(()),
        Status::Paused | Status::Pausing => provider.resume(id).map_err(refused)?,
        _ => {}
    }
    let up = provider.wait_running(id, UP);
    up.map_err(|failure| with_ways(refused(failure), provider, id.as_str()))
}
