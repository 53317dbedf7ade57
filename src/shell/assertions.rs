//! `assert.eq` and its family: the words that test files of the classic shell are written in.

use super::rows::prelude;
use super::{Class, Shells};

/// `assert.eq` and its family.
pub(super) const ASSERT: Class = Class::functions(
    "Assert",
    "assert",
    "checks that throw",
    &[
        prelude(
            "adminCommandWorkedAllowingNetworkError",
            "(connection, command)",
            "checks that an admin command worked",
        ),
        prelude("automsg", "(code, message)", "checks code given as a text"),
        prelude(
            "between",
            "(low, value, high, message, inclusive)",
            "checks that a value lies between two others",
        ),
        prelude(
            "betweenEx",
            "(low, value, high, message)",
            "checks that a value lies between two others and is neither",
        ),
        prelude(
            "betweenIn",
            "(low, value, high, message)",
            "checks that a value lies between two others or is one of them",
        ),
        prelude("close", "(left, right, message, places)", "checks that two numbers are close"),
        prelude(
            "closeWithinMS",
            "(left, right, message, millis)",
            "checks that two dates are close",
        ),
        prelude("commandFailed", "(reply, message)", "checks that a command failed"),
        prelude(
            "commandFailedWithCode",
            "(reply, code, message)",
            "checks that a command failed with a code",
        ),
        prelude("commandWorked", "(reply, message)", "checks that a command worked"),
        prelude(
            "commandWorkedIgnoringWriteConcernErrors",
            "(reply, message)",
            "as commandWorked, whatever the write concern",
        ),
        prelude(
            "commandWorkedIgnoringWriteErrors",
            "(reply, message)",
            "as commandWorked, whatever the single writes",
        ),
        prelude(
            "commandWorkedIgnoringWriteErrorsOrWriteConcernErrors",
            "(reply, message)",
            "as commandWorked, for the command alone",
        ),
        prelude(
            "commandWorkedOrFailedWithCode",
            "(reply, codes, message)",
            "checks that a command worked, or failed with a code",
        ),
        prelude("contains", "(value, array, message)", "checks that an array holds a value"),
        prelude(
            "containsPrefix",
            "(prefix, array, message)",
            "checks that an array holds a text with a beginning",
        ),
        prelude(
            "docEq",
            "(left, right, message)",
            "checks that two documents have the same fields, in any order",
        ),
        prelude(
            "doesNotThrow",
            "(function, arguments, message)",
            "checks that a function does not throw",
        )
        .only(Shells::Mongo),
        prelude("eq", "(left, right, message)", "checks that two values are equal"),
        prelude(
            "fuzzySameMembers",
            "(left, right, fields, message)",
            "as sameMembers, but for some fields",
        ),
        prelude(
            "gleError",
            "(reply, message)",
            "checks that an answer to a write tells of an error",
        ),
        prelude(
            "gleErrorCode",
            "(reply, code, message)",
            "checks that an answer to a write tells of an error with a code",
        ),
        prelude(
            "gleErrorRegex",
            "(reply, pattern, message)",
            "checks that an answer to a write tells of such an error",
        ),
        prelude("gleOK", "(reply, message)", "checks that an answer to a write tells of no error"),
        prelude(
            "gleSuccess",
            "(reply, message)",
            "checks that an answer to a write tells of no error",
        ),
        prelude("gt", "(left, right, message)", "checks that left is greater"),
        prelude("gte", "(left, right, message)", "checks that left is greater or equal"),
        prelude("hasFields", "(document, fields, message)", "checks that a document has fields"),
        prelude("includes", "(text, part, message)", "checks that a text has a part"),
        prelude("isNull", "(value, message)", "checks that a value is null or undefined"),
        prelude("isnull", "(value, message)", "checks that a value is null or undefined"),
        prelude("lt", "(left, right, message)", "checks that left is less"),
        prelude("lte", "(left, right, message)", "checks that left is less or equal"),
        prelude("neq", "(left, right, message)", "checks that two values differ"),
        prelude("noAPIParams", "(options)", "checks that options choose no API version"),
        prelude(
            "retry",
            "(function, message, attempts, interval)",
            "checks until it holds, so many times",
        ),
        prelude(
            "retryNoExcept",
            "(function, message, attempts, interval)",
            "as retry, an exception meaning not yet",
        ),
        prelude(
            "sameMembers",
            "(left, right, message)",
            "checks that two arrays hold the same, in any order",
        ),
        prelude("setEq", "(left, right, message)", "checks that two sets hold the same"),
        prelude(
            "soon",
            "(function, message, timeout, interval)",
            "checks until it holds, or time is over",
        ),
        prelude(
            "soonNoExcept",
            "(function, message, timeout, interval)",
            "as soon, an exception meaning not yet",
        ),
        prelude(
            "strictEq",
            "(left, right, message)",
            "checks that two values are the same, as === has it",
        ),
        prelude("throws", "(function, arguments, message)", "checks that a function throws")
            .only(Shells::Mongo),
        prelude(
            "throwsWithCode",
            "(function, codes, arguments, message)",
            "checks that a function throws an error with a code",
        ),
        prelude("time", "(function, message, timeout)", "checks that a function is done in time"),
        prelude("writeError", "(result, message)", "checks that a write failed"),
        prelude(
            "writeErrorWithCode",
            "(result, codes, message)",
            "checks that a write failed with a code",
        ),
        prelude("writeOK", "(result, message)", "checks that a write worked"),
    ],
);
