//! `help()` of the classes, made of their rows, in the layout of either shell.

use super::{Call, Class, Emulate, Reply, Shell, class};
use crate::error::Result;

/// `db.help()`.
pub(super) fn database(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("Database").expect("the table has the class of its own row");
    match call.shell.emulate {
        Emulate::Mongo => rows(call.shell, "DB methods:", "db.", class),
        Emulate::Mongosh => columns(call.shell, "Database Class", class),
    }
}

/// `db.name.help()`.
pub(super) fn collection(call: &mut Call<'_>) -> Result<Reply> {
    let (_, name) = call.collection()?;
    let class = class("Collection").expect("the table has the class of its own row");
    match call.shell.emulate {
        Emulate::Mongo => {
            let before = format!("db.{name}.");
            call.shell.output.line("DBCollection help")?;
            call.shell.output.line(&format!("\t{before}find().help() - show DBCursor help"))?;
            listed(call.shell, &before, class)
        }
        Emulate::Mongosh => columns(call.shell, "Collection Class", class),
    }
}

/// `db.name.find().help()`.
pub(super) fn cursor(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("Cursor").expect("the table has the class of its own row");
    match call.shell.emulate {
        Emulate::Mongo => rows(
            call.shell,
            "find(<predicate>, <projection>) modifiers and cursor methods",
            ".",
            class,
        ),
        Emulate::Mongosh => columns(call.shell, "Collection Cursor", class),
    }
}

/// `db.name.aggregate().help()`.
pub(super) fn command_cursor(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("CommandCursor").expect("the table has the class of its own row");
    match call.shell.emulate {
        Emulate::Mongo => rows(call.shell, "Cursor methods", ".", class),
        Emulate::Mongosh => columns(call.shell, "Aggregation Cursor", class),
    }
}

/// `help()` of an object of that class.
pub(super) fn object(call: &mut Call<'_>, name: &str) -> Result<Reply> {
    let class = class(name).expect("the table has the class of its own row");
    match call.shell.emulate {
        Emulate::Mongo => rows(call.shell, &format!("{}:", class.help), ".", class),
        Emulate::Mongosh => columns(call.shell, class.help, class),
    }
}

/// `db.name.watch().help()`.
pub(super) fn change_stream(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("ChangeStream").expect("the table has the class of its own row");
    columns(call.shell, "ChangeStreamCursor Class", class)
}

fn rows(shell: &mut Shell, title: &str, before: &str, class: &Class) -> Result<Reply> {
    shell.output.line(title)?;
    listed(shell, before, class)
}

/// The classic layout: a tab, the call, what it does.
pub(super) fn listed(shell: &mut Shell, before: &str, class: &Class) -> Result<Reply> {
    for method in class.methods {
        if !method.help.is_empty() && method.shells.include(shell.emulate) {
            let line = format!("\t{before}{}{} - {}", method.name, method.usage, method.help);
            shell.output.line(&line)?;
        }
    }
    Ok(Reply::Nothing)
}

/// mongosh's layout: names in one column, what they do in the next.
fn columns(shell: &mut Shell, title: &str, class: &Class) -> Result<Reply> {
    let rows: Vec<_> = class
        .methods
        .iter()
        .filter(|method| !method.help.is_empty() && method.shells.include(shell.emulate))
        .map(|method| (method.name, method.help))
        .collect();
    two_columns(shell, title, &rows)?;
    Ok(Reply::Nothing)
}

/// A titled list in mongosh's layout.
pub(super) fn two_columns(shell: &mut Shell, title: &str, rows: &[(&str, &str)]) -> Result<()> {
    shell.output.line(&format!("\n  {title}:\n"))?;
    for (name, help) in rows {
        shell.output.line(&format!("    {name:<43}{help}"))?;
    }
    let manual = "https://mongodb.com/docs/manual/reference/method";
    shell.output.line(&format!("\n  For more information on usage: {manual}"))
}
