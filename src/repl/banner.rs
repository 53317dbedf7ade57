//! The two lines at the start, and what stands before the cursor.

use std::path::Path;

use crate::backend::Topology;
use crate::shell::Emulate;

/// What a terminal shows at the start. `home` is the user's, for a shorter path; `lessons` is whether there are some.
pub(super) fn banner(
    emulate: Emulate,
    topology: &Topology,
    home: Option<&Path>,
    lessons: bool,
) -> String {
    let emulated = match emulate {
        Emulate::Mongo => "mongo",
        Emulate::Mongosh => "mongosh",
    };
    let learn = if lessons { ", \"learn\" for lessons" } else { "" };
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "tally {version} - emulating {emulated}. Type \"help\" for help{learn}.\n{}",
        whereabouts(topology, home)
    )
}

fn whereabouts(topology: &Topology, home: Option<&Path>) -> String {
    match topology {
        Topology::Embedded { directory: Some(directory) } => {
            let place = shorter(directory, home);
            format!(
                "embedded engine, data in {place} (kept between sessions; --ephemeral for a scratch one)"
            )
        }
        Topology::Embedded { directory: None } => {
            "embedded engine, scratch data (gone at exit; --data DIR keeps it)".to_owned()
        }
        Topology::Server { address, replica_set: None } => format!("connected to {address}"),
        Topology::Server { address, replica_set: Some((name, state)) } => {
            format!("connected to {address}, {state} of the replica set {name}")
        }
    }
}

/// A path with `~` for the home.
fn shorter(path: &str, home: Option<&Path>) -> String {
    match home.and_then(|home| Path::new(path).strip_prefix(home).ok()) {
        Some(rest) => Path::new("~").join(rest).display().to_string(),
        None => path.to_owned(),
    }
}

/// What stands before the cursor: `test> `, on a replica set `rs0 [primary] test> `.
pub(super) fn prompt(db: &str, topology: &Topology) -> String {
    match topology {
        Topology::Server { replica_set: Some((name, state)), .. } => {
            format!("{name} [{state}] {db}> ")
        }
        Topology::Server { replica_set: None, .. } | Topology::Embedded { .. } => format!("{db}> "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded(directory: Option<&str>) -> Topology {
        Topology::Embedded { directory: directory.map(str::to_owned) }
    }

    fn server(replica_set: Option<(&str, &str)>) -> Topology {
        let replica_set = replica_set.map(|(name, state)| (name.to_owned(), state.to_owned()));
        Topology::Server { address: "db.example:27017".to_owned(), replica_set }
    }

    #[test]
    fn the_banner_says_what_this_is_and_where_the_data_is() {
        let place = embedded(Some("/home/ann/.local/share/tally"));
        assert_eq!(
            banner(Emulate::Mongo, &place, Some(Path::new("/home/ann")), true),
            format!(
                "tally {} - emulating mongo. Type \"help\" for help, \"learn\" for lessons.\n\
                 embedded engine, data in ~/.local/share/tally (kept between sessions; --ephemeral for a scratch one)",
                env!("CARGO_PKG_VERSION")
            )
        );
        let text = banner(Emulate::Mongosh, &place, Some(Path::new("/home/an")), false);
        assert!(text.contains("emulating mongosh. Type \"help\" for help.\n"), "{text}");
        assert!(text.contains("data in /home/ann/.local"), "{text}");
    }

    #[test]
    fn the_prompt_names_the_database_and_the_member() {
        assert_eq!(prompt("test", &embedded(None)), "test> ");
        assert_eq!(prompt("shop", &server(None)), "shop> ");
        assert_eq!(prompt("shop", &server(Some(("rs0", "primary")))), "rs0 [primary] shop> ");
    }
}
