//! Who may do what: users and their passwords, logging in, and what a role allows.
//!
//! Users are documents of `admin.system.users`, with salted keys in the place of their passwords. Anybody can log in;
//! only with `--auth` does it make a difference.

mod login;
mod rights;
mod scram;
mod users;

pub(super) use login::{Session, continue_login, greet, log_out, start_login, who};
pub(super) use rights::{check, databases};
pub(super) use users::{create, drop_user, show, update};
