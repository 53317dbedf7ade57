//! Change streams: when the connection or the cursor is lost, the stream is opened again behind the last change.
//!
//! The rules are those of the drivers' change streams specification: an error that may pass opens it again, once for each
//! failure, with the token of the last batch (`resumeAfter`). What that attempt fails with is the user's to hear.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{Cursor, Request};
use crate::error::{Code, Error, Result};

/// The label of errors after which a stream may be opened again.
const RESUMABLE: &str = "ResumableChangeStreamError";
/// The stage that makes a change stream; it is the first of a pipeline.
const STAGE: &str = "$changeStream";
/// The options that say where a stream begins.
const BEGINNINGS: &[&str] = &["resumeAfter", "startAfter", "startAtOperationTime"];

/// Sends a command that answers with a cursor.
pub type Opener = Box<dyn Fn(Request) -> Result<Box<dyn Cursor>> + Send>;

/// A change stream.
pub struct Changes {
    open: Opener,
    request: Request,
    source: Box<dyn Cursor>,
    /// The place behind the last batch.
    token: Option<RawDocumentBuf>,
}

impl Changes {
    /// Whether a command opens a change stream.
    pub fn are_meant(body: &RawDocument) -> bool {
        stages(body).next().is_some_and(|stage| matches!(stage.get(STAGE), Ok(Some(_))))
    }

    /// Opens the stream that the command asks for.
    ///
    /// # Errors
    /// As [`super::Backend::stream`].
    pub fn open(open: Opener, request: Request) -> Result<Self> {
        let source = open(request.clone())?;
        Ok(Self { open, request, source, token: None })
    }

    /// Opens it again behind the last batch.
    fn resume(&mut self) -> Result<()> {
        let mut request = self.request.clone();
        if let Some(token) = &self.token {
            request.body = resumed(&request.body, token);
        }
        self.source = (self.open)(request)?;
        Ok(())
    }
}

impl Cursor for Changes {
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        let batch = match self.source.next_batch() {
            Err(error) if is_resumable(&error) => {
                self.resume()?;
                self.source.next_batch()?
            }
            outcome => outcome?,
        };
        let last = batch.as_ref().and_then(|batch| id(batch.last()?));
        if let Some(token) = self.source.resume_token().or(last) {
            self.token = Some(token);
        }
        Ok(batch)
    }

    fn id(&self) -> i64 {
        self.source.id()
    }

    fn resume_token(&self) -> Option<RawDocumentBuf> {
        self.token.clone()
    }
}

/// The token of a change: its `_id`.
pub fn id(change: &RawDocument) -> Option<RawDocumentBuf> {
    change.get_document("_id").ok().map(ToOwned::to_owned)
}

/// Whether a stream may be opened again after an error.
fn is_resumable(error: &Error) -> bool {
    match error {
        Error::Connection(_) => true,
        Error::Command(refusal) => {
            refusal.code == Code::CURSOR_NOT_FOUND
                || refusal.labels.iter().any(|label| label == RESUMABLE)
        }
        _ => false,
    }
}

fn stages(body: &RawDocument) -> impl Iterator<Item = &RawDocument> {
    let pipeline = body.get_array("pipeline").ok();
    pipeline.into_iter().flatten().filter_map(|stage| stage.ok()?.as_document())
}

/// The command that opens a stream, with another beginning.
fn resumed(body: &RawDocument, token: &RawDocument) -> RawDocumentBuf {
    let mut pipeline = RawArrayBuf::new();
    for (at, stage) in stages(body).enumerate() {
        if at > 0 {
            pipeline.push(stage.to_owned());
            continue;
        }
        let mut options = RawDocumentBuf::new();
        let given = stage.get_document(STAGE).ok();
        for (name, value) in given.into_iter().flat_map(|options| options.iter().flatten()) {
            if !BEGINNINGS.contains(&name.as_str()) {
                options.append(name, value);
            }
        }
        options.append(cstr!("resumeAfter"), token);
        let mut first = RawDocumentBuf::new();
        first.append(cstr!("$changeStream"), options);
        pipeline.push(first);
    }
    let mut command = RawDocumentBuf::new();
    for (name, value) in body.iter().flatten() {
        match value {
            RawBsonRef::Array(_) if name.as_str() == "pipeline" => {
                command.append(name, pipeline.clone());
            }
            value => command.append(name, value),
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use bson::rawdoc;

    use super::*;
    use crate::interrupt::Interrupt;

    /// Answers with batches and errors in the order in which they were given.
    struct Script(Arc<Mutex<Vec<Result<Vec<RawDocumentBuf>>>>>);

    impl Cursor for Script {
        fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
            let mut script = self.0.lock().expect("one thread");
            if script.is_empty() { Ok(None) } else { script.remove(0).map(Some) }
        }

        fn id(&self) -> i64 {
            7
        }
    }

    fn change(token: i32) -> RawDocumentBuf {
        rawdoc! { "_id": { "_data": token }, "operationType": "insert" }
    }

    #[test]
    fn a_stream_goes_on_behind_the_last_change() {
        let gone = Error::command(Code::CURSOR_NOT_FOUND, "cursor id 7 not found");
        let refused = Error::command(Code(2), "no");
        let script = vec![
            Ok(vec![change(1), change(2)]),
            Err(gone),
            Ok(vec![change(3)]),
            Err(Error::Connection("lost".to_owned())),
            Ok(Vec::new()),
            Err(refused.clone()),
        ];
        let (script, opened) = (Arc::new(Mutex::new(script)), Arc::new(Mutex::new(Vec::new())));
        let body = rawdoc! {
            "aggregate": "t",
            "pipeline": [{ "$changeStream": { "fullDocument": "updateLookup", "startAfter": { "_data": 0 } } }, { "$match": {} }],
            "cursor": {},
        };
        assert!(Changes::are_meant(&body));
        let heard = Arc::clone(&opened);
        let open: Opener = Box::new(move |request| {
            heard.lock().expect("one thread").push(request.body);
            Ok(Box::new(Script(Arc::clone(&script))))
        });
        let request =
            Request { db: "d".to_owned(), body: body.clone(), interrupt: Interrupt::new() };
        let mut changes = Changes::open(open, request).expect("it opens");
        assert_eq!(changes.next_batch(), Ok(Some(vec![change(1), change(2)])));
        assert_eq!(changes.next_batch(), Ok(Some(vec![change(3)])));
        assert_eq!(changes.next_batch(), Ok(Some(Vec::new())));
        assert_eq!(changes.resume_token(), Some(rawdoc! { "_data": 3 }));
        assert_eq!(changes.next_batch(), Err(refused));
        let again = |token: i32| {
            rawdoc! {
                "aggregate": "t",
                "pipeline": [{ "$changeStream": { "fullDocument": "updateLookup", "resumeAfter": { "_data": token } } }, { "$match": {} }],
                "cursor": {},
            }
        };
        assert_eq!(*opened.lock().expect("one thread"), [body, again(2), again(3)]);
    }

    #[test]
    fn an_ordinary_aggregation_is_none() {
        assert!(!Changes::are_meant(&rawdoc! { "aggregate": "t", "pipeline": [{ "$match": {} }] }));
        assert!(!Changes::are_meant(&rawdoc! { "find": "t" }));
    }
}
