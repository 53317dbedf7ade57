//! TOML files that people may have spoilt: they still say what they can.

use ::toml::de::{DeTable, Deserializer};
use serde::Deserialize as _;

pub(super) use ::toml::{Table, Value, to_string};

/// What can be read of a file, and whether that is all of it. Lines that are no TOML are passed over.
pub(super) fn table(text: &str) -> (Table, bool) {
    let (table, faults) = DeTable::parse_recoverable(text);
    match Table::deserialize(Deserializer::from(table)) {
        Ok(table) => (table, faults.is_empty()),
        Err(_) => (Table::new(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoilt_lines_are_passed_over() {
        let (table, whole) =
            table("a = \n= 1\nb = \"open\n[c]\nd = [1, 3]\ne = \"well\" # said\nx y");
        assert!(!whole);
        let c = table.get("c").and_then(Value::as_table).expect("a table");
        assert_eq!(c.get("d"), Some(&Value::from(vec![1, 3])));
        assert_eq!(c.get("e"), Some(&Value::from("well")));
    }
}
