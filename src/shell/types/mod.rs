//! The classes of BSON values that JavaScript has no value of its own for, and the functions that make them.

mod binary;
mod date;
mod key;
mod modern;
mod numbers;
mod object_id;
mod reference;
mod timestamp;

pub(super) use binary::{BIN_DATA, BINARY_FUNCTIONS, csuuid, hex_data, juuid, md5, pyuuid, uuid};
pub(super) use date::iso_date;
pub(super) use key::{BSON_REG_EXP, CODE, MAX_KEY, MIN_KEY};
pub(super) use modern::{
    BSON_SYMBOL, DECIMAL_FUNCTIONS, DOUBLE, DOUBLE_FUNCTIONS, INT_FUNCTIONS, LONG_FUNCTIONS,
};
pub(super) use numbers::{NUMBER_DECIMAL, NUMBER_INT, NUMBER_LONG};
pub(super) use object_id::{OBJECT_ID, OBJECT_ID_FUNCTIONS};
pub(super) use reference::{DB_POINTER, DB_REF};
pub(super) use timestamp::TIMESTAMP;

use bson::RawBson;

use super::{Call, Receiver, Reply};
use crate::error::{Error, Result};

/// The value whose method is called.
fn this<'a>(call: &'a Call<'_>) -> Result<&'a RawBson> {
    match &call.this {
        Receiver::Value(value) => Ok(value),
        _ => Err(Error::Usage(format!("{} must be called on a value of its class", call.method))),
    }
}

/// A text as a reply.
fn text(text: impl Into<String>) -> Reply {
    Reply::Value(RawBson::String(text.into()))
}
