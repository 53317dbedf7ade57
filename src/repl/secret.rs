//! What must never be remembered: inputs with a password in them.

/// Calls whose arguments hold a password.
const CALLS: &[&str] = &["auth", "changeUserPassword", "createUser", "updateUser"];

/// Keys whose value is one.
const KEYS: &[&str] = &["password", "passwd", "pwd"];

/// Whether an input holds a password as far as anyone can tell from its text: a call that takes one, a key that names
/// one, a connection string with one.
///
/// Wrong guesses cost a line of history; a missed one costs a password. So this looks at words, wherever they stand.
pub(super) fn is_secret(text: &str) -> bool {
    CALLS.iter().any(|call| words(text, call).any(opens_call))
        || KEYS.iter().any(|key| words(text, key).any(is_key))
        || text.match_indices("://").any(|(at, _)| has_password(&text[at + 3..]))
}

/// What follows each place where `word` stands as a whole word, whatever its case.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    (0..text.len()).filter_map(move |at| {
        let found = text.get(at..at + word.len())?;
        let rest = &text[at + word.len()..];
        let whole = !text[..at].ends_with(part) && !rest.starts_with(part);
        (whole && found.eq_ignore_ascii_case(word)).then_some(rest)
    })
}

/// `(` of a call, `"` or `'` of a computed one, `:` where a command is named in a document.
fn opens_call(rest: &str) -> bool {
    rest.trim_start_matches(['"', '\'', '`', ']', ' ', '\t', '\n']).starts_with(['(', ':'])
}

/// `:` of a document or `=` of an assignment, behind an optional quote.
fn is_key(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '\'', '`', '”', '’', ']', ' ', '\t', '\n']);
    rest.starts_with(':') || (rest.starts_with('=') && !rest.starts_with("=="))
}

/// Whether what follows `://` begins with `user:password@`.
fn has_password(rest: &str) -> bool {
    let end = rest.find(|letter: char| letter.is_whitespace() || "/\"'`”’?".contains(letter));
    let authority = &rest[..end.unwrap_or(rest.len())];
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_seen() {
        for text in [
            "db.auth(\"ann\", \"s3cret\")",
            "db.auth ('ann', 's3cret')",
            "db\n  .auth({user: 'ann', pwd: 's3cret'})",
            "db[\"createUser\"]({user: 'a'})",
            "db.createUser({user: 'ann', pwd: 's3cret', roles: []})",
            "db.updateUser('ann', {pwd: 'other'})",
            "db.changeUserPassword('ann', 'other')",
            "db.runCommand({createUser: 'ann', roles: []})",
            "db.runCommand({\"createUser\" : 'ann'})",
            "var pwd = 's3cret'",
            "x = {password : 's3cret'}",
            "x = {“pwd”: 's3cret'}",
            "connect('mongodb://ann:s3cret@db.example/shop')",
            "new Mongo(\"mongodb+srv://ann:s3cret@db.example\")",
            "db.createUser(\n{user: 'ann'})",
        ] {
            assert!(is_secret(text), "{text}");
        }
    }

    #[test]
    fn ordinary_inputs_are_not() {
        for text in [
            "db.users.find({name: 'ann'})",
            "db.authors.find()",
            "db.posts.find({author: 'auth'})",
            "connect('mongodb://db.example:27017/shop')",
            "'mail me: ann@example.org, see https://example.org/a:b@c'",
            "db.oauth(1)",
            "pwd()",
            "show users",
            "ä.auth",
        ] {
            assert!(!is_secret(text), "{text}");
        }
    }
}
