//! A server that knows three commands of MongoDB's protocol and misbehaves as it is told.

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
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let commands = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&commands);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = Arc::clone(&heard);
                thread::spawn(move || serve(stream, conduct, &heard));
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
fn serve(mut stream: TcpStream, conduct: Conduct, heard: &Mutex<Vec<Document>>) -> Option<()> {
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
            "hello" | "ismaster" => doc! {
                "ismaster": true, "isWritablePrimary": true, "helloOk": true, "minWireVersion": 0,
                "maxWireVersion": 21, "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
                "maxWriteBatchSize": 100_000, "readOnly": false, "ok": 1.0,
            },
            "endsessions" => doc! { "ok": 1.0 },
            _ => {
                heard.lock().unwrap().push(command);
                match conduct {
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
