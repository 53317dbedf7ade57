//! Raw documents under construction.

use bson::RawDocumentBuf;

/// An empty document with room for so many bytes. One that grows from nothing is moved four times on its way to a hundred
/// bytes.
pub fn document(room: usize) -> RawDocumentBuf {
    let mut bytes = Vec::with_capacity(room.max(5));
    bytes.extend_from_slice(&[5, 0, 0, 0, 0]);
    RawDocumentBuf::from_bytes(bytes).expect("these are the bytes of the empty document")
}

#[cfg(test)]
mod tests {
    use bson::raw::cstr;
    use bson::rawdoc;

    use super::*;

    #[test]
    fn it_is_empty_and_grows_as_any_document() {
        assert_eq!(document(0), rawdoc! {});
        let mut grown = document(8);
        grown.append(cstr!("a"), "a text that is longer than the room");
        assert_eq!(grown, rawdoc! { "a": "a text that is longer than the room" });
    }
}
