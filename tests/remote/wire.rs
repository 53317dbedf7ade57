//! A server that knows a few commands of MongoDB's protocol and misbehaves as it is told.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use bson::{Document, doc};

/// What the server does with a command that is no greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// It never answers.
    Hang,
    /// It closes the connection.
    Close,
    /// It refuses, with a code that has its own name, a label and a further field.
    Refuse,
    /// It is the primary of a replica set that counts with `findAndModify` and keeps a record of each write; every 149th
    /// command meets one mishap after another.
    Count,
    /// It is a router, too, that does as it is told: a query answers with one document and a cursor for more.
    Obey,
    /// As `Count`, but it says it is a router of a sharded cluster, and each command meets the mishap of the first.
    Route,
}

/// What the counting server has done.
#[derive(Default)]
struct Books {
    /// How many commands came in.
    arrived: usize,
    /// The last number that was handed out.
    value: i64,
    /// The replies to the writes, by session and number.
    records: HashMap<(Vec<u8>, i64), Document>,
    /// The highest number of each session.
    highest: HashMap<Vec<u8>, i64>,
}

impl Books {
    /// Runs one increment, unless it was run before. `None` is a closed connection.
    fn count(&mut self, command: &Document, conduct: Conduct) -> Option<Document> {
        self.arrived += 1;
        let session = bson::serialize_to_vec(command.get_document("lsid").unwrap()).unwrap();
        let number = command.get_i64("txnNumber").unwrap();
        let highest = self.highest.entry(session.clone()).or_insert(number);
        if number < *highest {
            return Some(
                doc! { "ok": 0.0, "code": 225, "errmsg": "Transaction number is too old" },
            );
        }
        *highest = number;
        let mishap = match conduct {
            Conduct::Route if self.records.contains_key(&(session.clone(), number)) => 0,
            Conduct::Route => 1,
            _ if self.arrived.is_multiple_of(149) => self.arrived / 149 % 4 + 1,
            _ => 0,
        };
        let refused = |code: i32, name: &str| {
            Some(doc! {
                "ok": 0.0, "code": code, "codeName": name, "errmsg": name,
                "errorLabels": ["RetryableWriteError"],
            })
        };
        // Before the write: the connection is lost, or the primary has stepped down.
        match mishap {
            2 => return None,
            3 => return refused(10107, "NotWritablePrimary"),
            _ => {}
        }
        let value = &mut self.value;
        let reply = self.records.entry((session, number)).or_insert_with(|| {
            *value += 1;
            doc! { "ok": 1.0, "lastErrorObject": { "n": 1 }, "value": { "_id": "users", "next": *value } }
        });
        // After the write: the connection is lost, or the server shuts down while it waits for the others.
        match mishap {
            1 => None,
            4 => refused(91, "ShutdownInProgress"),
            _ => Some(reply.clone()),
        }
    }
}

/// What a server says of itself.
fn hello(conduct: Conduct, port: u16) -> Document {
    let mut hello = doc! {
        "ismaster": true, "isWritablePrimary": true, "helloOk": true, "minWireVersion": 0,
        "maxWireVersion": 21, "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000, "readOnly": false, "ok": 1.0,
    };
    let me = format!("127.0.0.1:{port}");
    match conduct {
        Conduct::Count => hello.extend(doc! {
            "logicalSessionTimeoutMinutes": 30, "setName": "rs0", "setVersion": 1, "secondary": false,
            "hosts": [me.as_str()], "me": me.as_str(), "primary": me.as_str(),
        }),
        Conduct::Route | Conduct::Obey => {
            hello.extend(doc! { "logicalSessionTimeoutMinutes": 30, "msg": "isdbgrid" });
        }
        Conduct::Hang | Conduct::Close | Conduct::Refuse => {}
    }
    hello
}

/// What `Obey` answers.
fn obeyed(command: &Document) -> Document {
    let next = doc! { "_id": "a", "next": 1 };
    match command.keys().next().unwrap().as_str() {
        "find" => {
            // In a transaction all at once, so that nothing is left over.
            let id = if command.contains_key("autocommit") { 0_i64 } else { 77 };
            doc! { "ok": 1.0, "cursor": { "id": id, "ns": "shop.t", "firstBatch": [next] } }
        }
        "findAndModify" => doc! { "ok": 1.0, "lastErrorObject": { "n": 1 }, "value": next },
        "killCursors" => doc! { "ok": 1.0, "cursorsKilled": [77_i64] },
        _ => doc! { "ok": 1.0, "n": 1 },
    }
}

/// A listening server. It ends with the test.
pub struct Misbehaving {
    /// Where it listens.
    pub port: u16,
    commands: Arc<Mutex<Vec<Document>>>,
}

impl Misbehaving {
    /// Starts one.
    pub fn start(conduct: Conduct) -> Self {
        Self::at(0, conduct)
    }

    /// Starts one at a port.
    pub fn at(port: u16, conduct: Conduct) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let commands = Arc::new(Mutex::new(Vec::new()));
        let books = Arc::new(Mutex::new(Books::default()));
        let heard = Arc::clone(&commands);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, books) = (Arc::clone(&heard), Arc::clone(&books));
                thread::spawn(move || serve(stream, conduct, &heard, &books));
            }
        });
        Self { port, commands }
    }

    /// The commands that came in so far, greetings and farewells left out.
    pub fn commands(&self) -> Vec<Document> {
        self.commands.lock().unwrap().clone()
    }
}

/// Answers one connection until either side closes it.
fn serve(
    mut stream: TcpStream,
    conduct: Conduct,
    heard: &Mutex<Vec<Document>>,
    books: &Mutex<Books>,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let port = stream.local_addr().ok()?.port();
    loop {
        let mut header = [0; 16];
        stream.read_exact(&mut header).ok()?;
        let number = |at: usize| i32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let mut body = vec![0; usize::try_from(number(0)).unwrap() - 16];
        stream.read_exact(&mut body).ok()?;
        // OP_QUERY holds flags, a name, two numbers and the command; OP_MSG flags, a kind and the command.
        let query = number(12) == 2004;
        let start = match query {
            true => 4 + body[4..].iter().position(|byte| *byte == 0).unwrap() + 9,
            false => 5,
        };
        let command = Document::from_reader(&body[start..]).unwrap();
        let name = command.keys().next().unwrap().to_lowercase();
        let reply = match name.as_str() {
            "hello" | "ismaster" => hello(conduct, port),
            "endsessions" => doc! { "ok": 1.0 },
            _ => {
                heard.lock().unwrap().push(command.clone());
                match conduct {
                    Conduct::Count | Conduct::Route => {
                        books.lock().unwrap().count(&command, conduct)?
                    }
                    Conduct::Obey => obeyed(&command),
                    Conduct::Hang => continue,
                    Conduct::Close => return None,
                    Conduct::Refuse => doc! {
                        "ok": 0.0, "errmsg": "not today", "code": 8000, "codeName": "AtlasError",
                        "errorLabels": ["RetryableWriteError"], "advice": "tomorrow",
                    },
                }
            }
        };
        let mut answer = Vec::new();
        match query {
            // OP_REPLY: flags, cursor, position, one document.
            true => answer.extend([[0; 16].as_slice(), &1_i32.to_le_bytes()].concat()),
            false => answer.extend([0; 5]),
        }
        reply.to_writer(&mut answer).unwrap();
        let code: i32 = if query { 1 } else { 2013 };
        let length = i32::try_from(answer.len() + 16).unwrap();
        for part in [length, 1, number(4), code] {
            stream.write_all(&part.to_le_bytes()).ok()?;
        }
        stream.write_all(&answer).ok()?;
    }
}
