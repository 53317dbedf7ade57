//! Messages and what is none.

use bson::{Document, RawDocumentBuf, doc, rawdoc};

use super::*;

/// A message with this content behind its header.
fn message(code: i32, content: &[u8]) -> Vec<u8> {
    let length = i32::try_from(HEADER + content.len()).expect("a short message");
    let mut bytes: Vec<u8> =
        [length, 7, 0, code].iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend_from_slice(content);
    bytes
}

fn bytes_of(document: &Document) -> Vec<u8> {
    RawDocumentBuf::try_from(document).expect("a document").into_bytes()
}

/// A section of the kind 0.
fn body(document: &Document) -> Vec<u8> {
    [vec![0], bytes_of(document)].concat()
}

/// A section of the kind 1.
fn sequence(name: &str, documents: &[Document]) -> Vec<u8> {
    let mut inside = name.as_bytes().to_vec();
    inside.push(0);
    inside.extend(documents.iter().flat_map(bytes_of));
    let length = i32::try_from(4 + inside.len()).expect("a short section");
    [vec![1], length.to_le_bytes().to_vec(), inside].concat()
}

/// An OP_MSG with these flags and sections.
fn op_msg(flags: u32, sections: &[Vec<u8>]) -> Vec<u8> {
    message(2013, &[flags.to_le_bytes().to_vec(), sections.concat()].concat())
}

fn read(bytes: &[u8]) -> Message {
    decode(bytes).expect("a message")
}

/// Why it is no message.
fn refused(bytes: &[u8]) -> String {
    decode(bytes).expect_err("no message").0
}

#[test]
fn a_body_is_the_command() {
    let ping = doc! { "ping": 1, "$db": "admin" };
    let message = read(&op_msg(0, &[body(&ping)]));
    assert_eq!((message.request, message.answer), (7, Answer::Message));
    assert_eq!(Document::try_from(&*message.body).expect("a document"), ping);
    assert_eq!((message.database, message.compressor), (None, None));
}

#[test]
fn document_sequences_become_arrays_of_the_body_whatever_comes_first() {
    let documents: Vec<_> = (0..12).map(|n| doc! { "_id": n }).collect();
    let insert = doc! { "insert": "t", "$db": "test" };
    let mut expected = insert.clone();
    expected.insert("documents", documents.clone());
    let sections = [sequence("documents", &documents), body(&insert)];
    let reversed = [body(&insert), sequence("documents", &documents)];
    for sections in [sections, reversed] {
        let message = read(&op_msg(0, &sections));
        assert_eq!(Document::try_from(&*message.body).expect("a document"), expected);
    }
    let two = [sequence("ops", &[doc! {}]), body(&doc! { "x": 1 }), sequence("nsInfo", &[])];
    let message = read(&op_msg(0, &two));
    let expected = doc! { "x": 1, "ops": [{}], "nsInfo": [] };
    assert_eq!(Document::try_from(&*message.body).expect("a document"), expected);
}

#[test]
fn a_client_that_wants_no_answer_gets_none() {
    let ping = op_msg(2, &[body(&doc! { "ping": 1 })]);
    let header = Header::parse(&ping).expect("a header").expect("a whole one");
    assert!(is_unanswered(&header, &ping));
    let message = read(&ping);
    assert_eq!(message.answer, Answer::None);
    assert_eq!(encode(&message, 1, &rawdoc! {}), None);
}

#[test]
fn the_upper_flags_are_free_and_the_lower_ones_are_not() {
    let ping = [body(&doc! { "ping": 1 })];
    assert_eq!(read(&op_msg(1 << 16 | 1 << 30, &ping)).answer, Answer::Message);
    assert!(refused(&op_msg(1 << 2, &ping)).contains("unknown flags"));
    assert!(refused(&op_msg(1 << 15, &ping)).contains("unknown flags"));
}

#[test]
fn a_checksum_is_taken_off_and_has_to_be_right() {
    let mut sections = op_msg(1, &[body(&doc! { "ping": 1 }), vec![0; 4]]);
    let end = sections.len() - 4;
    let sum = super::checksum::crc32c(&sections[..end]);
    sections[end..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(read(&sections).body, rawdoc! { "ping": 1 });
    sections[20 + 8] ^= 1;
    assert!(refused(&sections).contains("checksum is wrong"));
}

#[test]
fn an_old_greeting_is_understood_and_answered_in_its_own_way() {
    let content = |namespace: &str, command: &Document| {
        let numbers = |numbers: &[i32]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let name = [namespace.as_bytes(), &[0]].concat();
        [numbers(&[4]), name, numbers(&[0, -1]), bytes_of(command)].concat()
    };
    let message_of =
        |namespace: &str, command: &Document| message(2004, &content(namespace, command));
    let hello = read(&message_of("admin.$cmd", &doc! { "isMaster": 1 }));
    assert_eq!((hello.answer, hello.database.as_deref()), (Answer::Reply, Some("admin")));
    let wrapped = doc! { "$query": { "isMaster": 1 }, "$readPreference": { "mode": "nearest" } };
    let wrapped = read(&message_of("admin.$cmd", &wrapped));
    assert_eq!(wrapped.body, rawdoc! { "isMaster": 1 });
    assert!(refused(&message_of("shop.users", &doc! {})).contains("no command"));

    let reply = encode(&wrapped, 9, &rawdoc! { "ok": 1.0 }).expect("an answer");
    let number = |at: usize| i32::from_le_bytes(reply[at..at + 4].try_into().expect("four bytes"));
    let length = i32::try_from(reply.len()).expect("a short message");
    // Length, number, the number answered, kind; flags, cursor (two words), position, how many.
    let expected = [length, 9, 7, 1, 8, 0, 0, 0, 1];
    assert_eq!((0..9).map(|at| number(at * 4)).collect::<Vec<_>>(), expected);
    assert_eq!(reply[36..], *rawdoc! { "ok": 1.0 }.as_bytes());
}

/// A compressed message.
fn folded(compressor: Compressor, inner: i32, content: &[u8], size: i32) -> Vec<u8> {
    let folded = compressor.fold(content).expect("it can be compressed");
    let head = [inner.to_le_bytes(), size.to_le_bytes()].concat();
    message(2012, &[head, vec![compressor as u8], folded].concat())
}

const COMPRESSORS: [Compressor; 4] =
    [Compressor::Noop, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd];

#[test]
fn what_is_compressed_is_answered_compressed() {
    let command = doc! { "insert": "t", "documents": [{ "text": "x".repeat(1000) }] };
    let content = op_msg(0, &[body(&command)])[HEADER..].to_vec();
    let size = i32::try_from(content.len()).expect("a short message");
    for compressor in COMPRESSORS {
        let message = read(&folded(compressor, 2013, &content, size));
        assert_eq!(message.compressor, Some(compressor));
        assert_eq!(Document::try_from(&*message.body).expect("a document"), command);
        let reply = rawdoc! { "ok": 1.0, "text": "y".repeat(1000) };
        let answer = encode(&message, 1, &reply).expect("an answer");
        // A client reads it as the server reads a client's.
        assert_eq!(read(&answer).body, reply);
        let small = compressor == Compressor::Noop || answer.len() < 200;
        assert!(small, "{compressor:?}: {} bytes", answer.len());
    }
}

#[test]
fn what_unfolds_to_more_or_less_than_it_says_is_refused() {
    let content = op_msg(0, &[body(&doc! { "ping": 1 })])[HEADER..].to_vec();
    let size = i32::try_from(content.len()).expect("a short message");
    for compressor in COMPRESSORS {
        for wrong in [size - 1, size + 1, 0, -1, i32::MAX, i32::MIN] {
            let refusal = refused(&folded(compressor, 2013, &content, wrong));
            assert!(refusal.contains("unfold"), "{compressor:?}, {wrong}: {refusal}");
        }
        let mut broken = folded(compressor, 2013, &content, size);
        broken.truncate(broken.len() - 3);
        let length = i32::try_from(broken.len()).expect("a short message");
        broken[..4].copy_from_slice(&length.to_le_bytes());
        decode(&broken).expect_err("it breaks off");
    }
    let twice = folded(Compressor::Zlib, 2012, &content, size);
    assert!(refused(&twice).contains("more than once"));
    let mut unknown = folded(Compressor::Noop, 2013, &content, size);
    unknown[HEADER + 8] = 9;
    assert!(refused(&unknown).contains("no compressor 9"));
}

/// A hundred megabytes of zeros are a few kilobytes compressed. No more of them is made than was said.
#[test]
fn a_bomb_does_not_go_off() {
    let zeros = vec![0; 100_000_000];
    for compressor in [Compressor::Zlib, Compressor::Zstd] {
        for said in [1000, 100_000_000] {
            let bomb = folded(compressor, 2013, &zeros, said);
            assert!(bomb.len() < 200_000);
            assert!(refused(&bomb).contains("unfold"));
        }
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let ping = body(&doc! { "ping": 1 });
    let documents = sequence("documents", &[doc! { "_id": 1 }]);
    let mut cut = documents.clone();
    cut[1] += 1;
    let mut negative = documents.clone();
    negative[4] = 0xff;
    let mut long = ping.clone();
    long[1] += 1;
    let mut short = ping.clone();
    short[1] -= 1;
    let endless = [vec![1], 12_i32.to_le_bytes().to_vec(), vec![b'x'; 8]].concat();
    let no_text = [vec![1], 8_i32.to_le_bytes().to_vec(), vec![0xff, 0xfe, 0xfd, 0]].concat();
    let many: Vec<Vec<u8>> = (0..1000).map(|at| sequence(&at.to_string(), &[])).collect();
    for (sections, why) in [
        (vec![], "no body"),
        (vec![documents.clone()], "no body"),
        (vec![ping.clone(), ping.clone()], "more than one body"),
        (vec![ping.clone(), documents.clone(), documents.clone()], "too many"),
        (vec![ping.clone(), many.concat()], "too many"),
        (vec![ping.clone(), vec![2, 5, 0, 0, 0, 0]], "kind 2"),
        (vec![ping.clone(), cut], "section cannot have"),
        (vec![ping.clone(), negative], "section cannot have"),
        (vec![long], "no room"),
        (vec![short], "breaks off"),
        (vec![ping.clone(), endless], "does not end"),
        (vec![ping.clone(), no_text], "no text"),
        (vec![ping.clone(), vec![0]], "breaks off"),
    ] {
        let refusal = refused(&op_msg(0, &sections));
        assert!(refusal.contains(why), "{refusal}, not {why}");
    }
    for code in [1, 2001, 2002, 2005, 2006, 2007, 0, -1] {
        assert!(refused(&message(code, &[0; 40])).contains("not understood"), "{code}");
    }
    for length in [15, 0, -1, i32::MIN, 48_000_001, i32::MAX] {
        let mut bytes = op_msg(0, std::slice::from_ref(&ping));
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        assert!(Header::parse(&bytes).is_err(), "{length}");
    }
    assert_eq!(Header::parse(&op_msg(0, &[ping])[..15]), Ok(None));
}
