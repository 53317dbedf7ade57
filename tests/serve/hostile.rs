//! Clients that mean harm, or are broken: each loses its own connection, and the others notice nothing.

use std::io::Write;
use std::time::{Duration, Instant};

use bson::{Document, RawDocumentBuf, doc};
use tally::serve::Envelope;
use tally::serve::wire::{self, Header};

use super::server::{Serving, message, op_msg};

const MEGABYTE: u64 = 1024 * 1024;

/// The bytes of nested documents or arrays, which cannot be made the usual way: that would need a deep stack here.
fn nested(depth: usize, kind: u8, name: &str) -> Vec<u8> {
    let level = 4 + 1 + name.len() + 1 + 1;
    let mut bytes = Vec::with_capacity(depth * level + 5);
    for at in 0..depth {
        let length = i32::try_from((depth - at) * level + 5).unwrap();
        bytes.extend(length.to_le_bytes());
        bytes.push(kind);
        bytes.extend(name.as_bytes());
        bytes.push(0);
    }
    bytes.extend([5, 0, 0, 0, 0]);
    bytes.extend(vec![0; depth]);
    bytes
}

/// A command with one more field of raw bytes.
fn with_field(command: &Document, kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    let mut body = RawDocumentBuf::try_from(command).unwrap().into_bytes();
    body.pop();
    body.push(kind);
    body.extend(name.as_bytes());
    body.push(0);
    body.extend(value);
    body.push(0);
    let length = i32::try_from(body.len()).unwrap();
    body[..4].copy_from_slice(&length.to_le_bytes());
    message(2013, &[&[0; 5], &body[..]].concat())
}

#[test]
fn what_is_no_message_ends_its_connection_only() {
    let server = Serving::start();
    let mut good = server.connect();
    let ping = op_msg(0, &doc! { "ping": 1, "$db": "admin" });
    let changed = |at: usize, byte: u8| {
        let mut bytes = ping.clone();
        bytes[at] = byte;
        bytes
    };
    let all = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a greeting of TLS".to_vec(),
        vec![0; 16],
        vec![0xff; 16],
        changed(0, 15),
        changed(3, 0x7f),
        changed(3, 0x80),
        changed(12, 0),
        changed(16, 4),
        changed(20, 9),
        changed(21, 4),
        changed(21, 0xff),
        message(2013, &[]),
        message(2012, &[0; 9]),
        message(2004, b"\0\0\0\0no end"),
        message(2001, &[0; 40]),
        message(2002, &[0; 40]),
        message(2005, &[0; 40]),
        message(2006, &[0; 40]),
        message(2007, &[0; 40]),
    ];
    for bytes in &all {
        let mut bad = server.connect();
        bad.send(bytes);
        assert!(bad.is_closed(), "{bytes:?}");
        assert_eq!(good.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
    }
    server.signal("-TERM");
    let (status, _, told) = server.ended();
    assert_eq!(status.code(), Some(0));
    assert_eq!(told.lines().count(), all.len(), "{told}");
    assert!(told.lines().all(|line| line.starts_with("connection ")), "{told}");
}

/// Every byte of a message, cut off or changed: an answer or a closed connection, and the server goes on.
#[test]
fn a_garbled_message_is_answered_or_ends_its_connection() {
    let server = Serving::start();
    let insert = doc! {
        "insert": "t", "documents": [{ "_id": { "a": [1, 2.5, true] }, "text": "x" }], "lsid": { "id": 1 },
        "$db": "test", "writeConcern": { "w": 1 },
    };
    let bytes = op_msg(0, &insert);
    for at in 0..bytes.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut garbled = bytes.clone();
            garbled[at] = byte;
            let mut client = server.connect();
            client.send(&garbled);
            // It may be waiting for more of a message that has become longer, or without a wish for an answer.
            client.stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            let _ = std::io::Read::read_to_end(&mut client.stream, &mut rest);
        }
        let mut client = server.connect();
        client.send(&bytes[..at]);
    }
    assert_eq!(server.connect().run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
}

#[test]
fn deep_nesting_is_refused() {
    let server = Serving::start();
    let mut client = server.connect();
    for depth in [150, 190, 250, 10_000, 1_000_000] {
        for (kind, name) in [(3, "a"), (4, "0"), (3, "$and"), (3, "$not")] {
            let deep = nested(depth, kind, name);
            let find = with_field(&doc! { "find": "t", "$db": "test" }, 3, "filter", &deep);
            let reply = client.send(&find).reply().expect("an answer");
            assert!(
                depth < 200 || reply.get_f64("ok").ok() == Some(0.0),
                "{depth}, {name}: {reply}"
            );
            let update = doc! { "insert": "t", "$db": "test" };
            let mut documents = vec![0; 4];
            documents.extend(b"\x030\0");
            documents.extend(&deep);
            documents.push(0);
            let length = i32::try_from(documents.len()).unwrap();
            documents[..4].copy_from_slice(&length.to_le_bytes());
            let insert = with_field(&update, 4, "documents", &documents);
            let reply = client.send(&insert).reply().expect("an answer");
            let refused =
                reply.get_f64("ok").ok() == Some(0.0) || reply.contains_key("writeErrors");
            assert!(depth < 200 || refused, "{depth}, {name}: {reply}");
        }
        let deep = nested(depth, 3, "a");
        for command in ["ping", "hello", "frobnicate", "isMaster"] {
            let odd = with_field(&doc! { command: 1, "$db": "admin" }, 3, "x", &deep);
            client.send(&odd).reply().expect("an answer");
        }
    }
    assert_eq!(client.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
}

#[test]
fn a_million_sections_are_too_many() {
    let server = Serving::start();
    let mut content = vec![0; 4];
    for number in 0..1_000_000_u32 {
        let name = format!("{number:x}\0");
        content.push(1);
        content.extend(u32::try_from(4 + name.len()).unwrap().to_le_bytes());
        content.extend(name.as_bytes());
    }
    let mut bad = server.connect();
    bad.send(&message(2013, &content));
    assert!(bad.is_closed());
    assert_eq!(server.connect().run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
}

/// Zeros, compressed, at most as many as a message may have.
fn bomb(said: i32) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..300 {
        encoder.write_all(&[0; 1_000_000]).unwrap();
    }
    let head = [2013_i32.to_le_bytes(), said.to_le_bytes()].concat();
    message(2012, &[head, vec![2], encoder.finish().unwrap()].concat())
}

#[test]
fn bombs_do_not_go_off() {
    let server = Serving::start();
    let mut good = server.connect();
    good.run("admin", doc! { "ping": 1 });
    let before = server.memory();
    for said in [100, 47_000_000, i32::MAX, -1] {
        let bomb = bomb(said);
        let mut bad: Vec<_> = (0..20).map(|_| server.connect()).collect();
        for client in &mut bad {
            client.send(&bomb);
        }
        assert_eq!(good.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
        for mut client in bad {
            assert!(client.is_closed());
        }
        let grown = server.memory().saturating_sub(before) / MEGABYTE;
        assert!(grown < 600, "{grown} MB");
    }
}

/// They begin a message and stop, or never take their answers; meanwhile the others work.
#[test]
fn stalled_clients_do_not_block_the_others_nor_fill_the_memory() {
    let server = Serving::start();
    let mut good = server.connect();
    let documents: Vec<_> =
        (0..40).map(|n| doc! { "_id": n, "text": "x".repeat(400_000) }).collect();
    good.run("test", doc! { "insert": "t", "documents": documents });
    let before = server.memory();
    let mut stalled = Vec::new();
    for at in 0..600_usize {
        let mut client = server.connect();
        let promised = message(2013, &vec![0; 47_000_000 * usize::from(at == 0)]);
        match at % 3 {
            // A header that promises much, and nothing behind it.
            0 => client.send(
                &[&46_000_000_i32.to_le_bytes()[..], &[0; 8], &2013_i32.to_le_bytes()].concat(),
            ),
            1 => client.send(&promised[..10]),
            // Sixteen megabytes asked for and not read.
            _ => client.send(&op_msg(0, &doc! { "find": "t", "$db": "test" })),
        };
        stalled.push(client);
    }
    let begun = Instant::now();
    for number in 0..200 {
        let reply = good.run("test", doc! { "insert": "u", "documents": [{ "_id": number }] });
        assert_eq!(reply, doc! { "n": 1, "ok": 1.0 });
    }
    let find = good.run("test", doc! { "find": "u", "batchSize": 200 });
    assert_eq!(find.get_document("cursor").unwrap().get_array("firstBatch").unwrap().len(), 200);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let grown = server.memory().saturating_sub(before) / MEGABYTE;
    // Half a gigabyte of answers that wait, and what 32 threads have in their hands; more than three were asked for.
    assert!(grown < 2500, "{grown} MB");
    drop(stalled);
    assert_eq!(good.run("admin", doc! { "ping": 1 }), doc! { "ok": 1.0 });
}

#[test]
fn idle_connections_are_cheap() {
    let server = Serving::start();
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.run("admin", doc! { "ping": 1 });
    }
    let before = server.memory();
    for _ in 0..400 {
        let mut client = server.connect();
        client.run("test", doc! { "insert": "t", "documents": [{ "text": "x".repeat(100_000) }] });
        clients.push(client);
    }
    let each = server.memory().saturating_sub(before) / 400;
    // The documents themselves are in the memory, too, until the storage writes its tables.
    assert!(each < (64 + 128) * 1024, "{each} bytes a connection");
    let before = server.memory();
    for _ in 0..400 {
        let mut client = server.connect();
        client.run("admin", doc! { "ping": 1 });
        clients.push(client);
    }
    let each = server.memory().saturating_sub(before) / 400;
    assert!(each <= 64 * 1024, "{each} bytes a connection");
}

/// What the wire decoder does with any bytes: a message, whose answer can be written, or a reason why it is none.
fn fuzz(bytes: &[u8]) {
    let _ = Header::parse(bytes);
    let Ok(message) = wire::decode(bytes) else { return };
    // A document of a sequence has at least five bytes, and gets a type, a number of eight digits at most, and a zero.
    let unfolded = Header::parse(bytes).unwrap().map_or(0, |header| wire::unfolded(&header, bytes));
    let largest = 3 * bytes.len().max(unfolded) + 64;
    assert!((5..=largest).contains(&message.body.as_bytes().len()));
    let _ = Envelope::unfold(&message.body);
    // Every element is right or is said to be wrong.
    let _ = message.body.iter().take(10_000).filter(Result::is_ok).count();
    let reply = RawDocumentBuf::try_from(&doc! { "ok": 1.0 }).unwrap();
    let answer = wire::encode(&message, 1, &reply);
    assert_eq!(answer.is_none(), message.answer == wire::Answer::None);
}

/// Messages of all kinds, to be garbled.
fn examples() -> Vec<Vec<u8>> {
    let command = doc! { "insert": "t", "documents": [{ "_id": 1, "a": [1, "x"] }], "$db": "test" };
    let whole = op_msg(0, &command);
    let size = i32::try_from(whole.len() - 16).unwrap();
    let compressed = |number: u8, folded: &[u8]| {
        let head = [2013_i32.to_le_bytes(), size.to_le_bytes()].concat();
        message(2012, &[&head[..], &[number], folded].concat())
    };
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&whole[16..]).unwrap();
    let body = RawDocumentBuf::try_from(&doc! { "insert": "t", "$db": "test" }).unwrap();
    let one = RawDocumentBuf::try_from(&doc! { "_id": 1 }).unwrap();
    let two = [one.as_bytes(), one.as_bytes()].concat();
    let length = i32::try_from(4 + 10 + two.len()).unwrap().to_le_bytes();
    let sections =
        [&[0; 4][..], &[1], &length, b"documents\0", &two, &[0], body.as_bytes()].concat();
    let query = [&[0; 4][..], b"admin.$cmd\0", &[0; 8], one.as_bytes()].concat();
    vec![
        op_msg(1, &command),
        op_msg(2, &command),
        message(2013, &sections),
        message(2004, &query),
        compressed(0, &whole[16..]),
        compressed(1, &snap::raw::Encoder::new().compress_vec(&whole[16..]).unwrap()),
        compressed(2, &zlib.finish().unwrap()),
        compressed(3, &zstd::encode_all(&whole[16..], 3).unwrap()),
        whole,
    ]
}

/// A million garbled messages, or as many as twenty seconds hold.
#[test]
fn the_decoder_takes_any_bytes() {
    let examples = examples();
    for example in &examples {
        assert!(wire::decode(example).is_ok() || example[16] == 1, "the examples are messages");
    }
    let begun = Instant::now();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    for round in 0..1_000_000 {
        if round % 1024 == 0 && begun.elapsed() > Duration::from_secs(20) {
            break;
        }
        let mut bytes = examples[next(examples.len())].clone();
        for _ in 0..next(6) {
            let at = next(bytes.len());
            match next(5) {
                0 => bytes[at] = u8::try_from(next(256)).unwrap(),
                1 => bytes[at] ^= 1 << next(8),
                2 => drop(bytes.drain(at..(at + next(8)).min(bytes.len()))),
                3 => bytes.insert(at, [0, 1, 0x7f, 0x80, 0xff][next(5)]),
                _ => {
                    let other = &examples[next(examples.len())];
                    let from = next(other.len());
                    bytes.extend_from_slice(&other[from..]);
                }
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        // Most get a length that fits, or nothing behind the header would ever be looked at.
        if next(8) > 0 && bytes.len() >= 4 {
            let length = i32::try_from(bytes.len()).unwrap();
            bytes[..4].copy_from_slice(&length.to_le_bytes());
        }
        fuzz(&bytes);
    }
}
