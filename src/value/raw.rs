//! Raw documents under construction.

use bson::RawDocumentBuf;
use bson::spec::ElementType;

/// An empty document with room for so many bytes. One that grows from nothing is moved four times on its way to a hundred
/// bytes.
pub fn document(room: usize) -> RawDocumentBuf {
    let mut bytes = Vec::with_capacity(room.max(5));
    bytes.extend_from_slice(&[5, 0, 0, 0, 0]);
    RawDocumentBuf::from_bytes(bytes).expect("these are the bytes of the empty document")
}

/// Adds a document to the bytes of an array, as its element number `at`.
pub fn push_element(array: &mut Vec<u8>, at: usize, document: &[u8]) {
    array.push(ElementType::EmbeddedDocument as u8);
    let mut digits = [0; 20];
    array.extend_from_slice(decimal(at, &mut digits));
    array.push(0);
    array.extend_from_slice(document);
}

/// Ends the document or array that began at `start` with room for its length.
pub fn close(bytes: &mut Vec<u8>, start: usize) {
    bytes.push(0);
    let length = i32::try_from(bytes.len() - start).unwrap_or(i32::MAX);
    bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// A number in decimal, without an allocation.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
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

    #[test]
    fn an_array_is_made_of_its_documents() {
        let mut bytes = vec![0; 4];
        for at in 0..12 {
            push_element(&mut bytes, at, rawdoc! { "n": at as i32 }.as_bytes());
        }
        close(&mut bytes, 0);
        let array = RawDocumentBuf::from_bytes(bytes).expect("a whole array");
        assert_eq!(array.get_document("11").expect("the last"), &*rawdoc! { "n": 11 });
        assert_eq!(array.iter().count(), 12);
    }
}
