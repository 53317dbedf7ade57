//! What the command line gives to scripts: their arguments, and the variables of `--set`.

use std::path::PathBuf;

/// The name of the running script where there is none, as Node has it.
const NO_SCRIPT: &str = "[eval]";

/// What scripts are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The name that the program was started under.
    pub program: String,
    /// The first script file.
    pub script: Option<PathBuf>,
    /// What stood behind `--`.
    pub arguments: Vec<String>,
    /// Names and values of the variables, all of them strings.
    pub variables: Vec<(String, String)>,
    /// The style that results are printed in, if it is not the emulated shell's.
    pub format: Option<String>,
    /// In an embedded session, addresses of this machine mean servers, too.
    pub local_servers: bool,
}

impl Given {
    /// The whole of it as `process.argv` has it: the program, the script, the arguments.
    pub fn argv(&self) -> Vec<String> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let script = self.script.as_ref().map(absolute);
        let script =
            script.map_or_else(|| NO_SCRIPT.to_owned(), |path| path.to_string_lossy().into_owned());
        let mut all = vec![self.program.clone(), script];
        all.extend(self.arguments.iter().cloned());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_begin_at_two_with_and_without_a_script() {
        let mut given = Given {
            program: "tally".to_owned(),
            arguments: vec!["--n".to_owned(), "5".to_owned()],
            ..Given::default()
        };
        assert_eq!(given.argv(), ["tally", "[eval]", "--n", "5"]);
        given.script = Some(PathBuf::from("/s.js"));
        assert_eq!(given.argv()[1..], ["/s.js", "--n", "5"]);
    }
}
