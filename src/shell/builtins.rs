//! What the classic shell adds to JavaScript's own objects, in both emulations. The bodies are code of the prelude.

use super::rows::{native, prelude};
use super::{Class, Kind, global};

/// Functions on `Array`.
pub(super) const ARRAY: Class = Class::functions(
    "ArrayFunctions",
    "Array",
    "functions over arrays",
    &[
        prelude("avg", "(array)", "the mean of numbers"),
        prelude("contains", "(array, value)", "whether an array holds a value"),
        prelude("fetchRefs", "(array, collection)", "the documents that DBRefs refer to"),
        prelude("shuffle", "(array)", "mixes an array"),
        prelude("stdDev", "(array)", "the standard deviation of numbers"),
        prelude("sum", "(array)", "the sum of numbers, null of none"),
        prelude("tojson", "(array, indent, nolint)", "an array as JSON text"),
        prelude("unique", "(array)", "each value once"),
    ],
);

/// Functions on `Date`.
pub(super) const DATE: Class = Class::functions(
    "DateFunctions",
    "Date",
    "functions over time",
    &[prelude("timeFunc", "(function, times)", "how many milliseconds a function takes")],
);

/// Functions on `Math`.
pub(super) const MATH: Class = Class::functions(
    "MathFunctions",
    "Math",
    "functions over numbers",
    &[prelude("sigFig", "(number, digits)", "a number rounded to significant digits")],
);

/// Methods of numbers.
pub(super) const NUMBER: Class = Class::instances(
    "NumberMethods",
    "Number",
    "methods of numbers",
    &[
        prelude("toPercentStr", "()", "the number as a percentage"),
        prelude("zeroPad", "(width)", "the number with zeros in front"),
    ],
)
.of(Kind::Extensions);

/// Functions on `Object`.
pub(super) const OBJECT: Class = Class::functions(
    "ObjectFunctions",
    "Object",
    "functions over objects",
    &[
        native("bsonsize", "(document)", "how many bytes a document takes", global::size),
        prelude("extend", "(target, source, deep)", "copies fields into an object"),
        prelude("keySet", "(object)", "the names of the fields"),
        prelude("merge", "(target, source, deep)", "a new object with the fields of both"),
    ],
);

/// `Random`.
pub(super) const RANDOM: Class = Class::functions(
    "RandomFunctions",
    "Random",
    "random numbers that can be repeated",
    &[
        prelude("genExp", "(mean)", "an exponentially distributed number"),
        prelude("genNormal", "(mean, deviation)", "a normally distributed number"),
        prelude("rand", "()", "a number from 0 to 1"),
        prelude("randInt", "(limit)", "a whole number below the limit"),
        prelude("setRandomFixtureSeed", "()", "starts over at the same place each time"),
        prelude("setRandomSeed", "(seed)", "starts at a seed, and prints it"),
        prelude("srand", "(seed)", "starts at a seed"),
    ],
);

/// Functions on `RegExp`.
pub(super) const REG_EXP: Class = Class::functions(
    "RegExpFunctions",
    "RegExp",
    "functions over regular expressions",
    &[prelude("escape", "(text)", "a pattern that matches just this text")],
);

/// Methods of texts.
pub(super) const STRING: Class = Class::instances(
    "StringMethods",
    "String",
    "methods of texts",
    &[
        prelude("ltrim", "()", "without blanks in front"),
        prelude("pad", "(width, right, character)", "with blanks up to a width"),
        prelude("rtrim", "()", "without blanks at the end"),
    ],
)
.of(Kind::Extensions);
