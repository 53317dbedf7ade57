//! Laws of the engine as a whole, tried on random data: indexes change no answer, and writes do what they say.

use bson::{Bson, Document, doc};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::engine::Database;

/// Key patterns and the options of their indexes.
fn indexes() -> Vec<(Document, Document)> {
    vec![
        (doc! { "a": 1 }, doc! {}),
        (doc! { "a": -1, "b": 1 }, doc! {}),
        (doc! { "b": 1 }, doc! { "sparse": true }),
        (doc! { "b.c": 1, "a": -1 }, doc! {}),
        (doc! { "c": 1 }, doc! { "partialFilterExpression": { "c": { "$gt": 0 } } }),
        (doc! { "c": 1, "b": 1 }, doc! {}),
    ]
}

fn scalars() -> impl Strategy<Value = Bson> {
    prop_oneof![
        6 => (-2i32..4).prop_map(Bson::Int32),
        2 => (-4i32..8).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
        1 => (-2i64..4).prop_map(Bson::Int64),
        1 => Just(Bson::Double(f64::NAN)),
        1 => Just(Bson::Null),
        2 => "[xy]{0,2}".prop_map(Bson::String),
        1 => any::<bool>().prop_map(Bson::Boolean),
    ]
}

fn values() -> impl Strategy<Value = Bson> {
    prop_oneof![
        8 => scalars(),
        2 => vec(scalars(), 0..3).prop_map(Bson::Array),
        2 => scalars().prop_map(|value| Bson::Document(doc! { "c": value })),
        1 => vec(scalars(), 0..3).prop_map(|values| {
            Bson::Array(values.into_iter().map(|value| Bson::Document(doc! { "c": value })).collect())
        }),
    ]
}

fn documents() -> impl Strategy<Value = Document> {
    vec(("[abc]", values()), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn conditions() -> impl Strategy<Value = Bson> {
    let compared = || {
        let operators = ["$eq", "$gt", "$gte", "$lt", "$lte", "$ne"];
        (proptest::sample::select(operators.to_vec()), scalars())
            .prop_map(|(operator, value)| Bson::Document(doc! { operator: value }))
    };
    prop_oneof![
        3 => scalars(),
        4 => compared(),
        2 => (scalars(), scalars())
            .prop_map(|(low, high)| Bson::Document(doc! { "$gte": low, "$lt": high })),
        2 => vec(scalars(), 0..4).prop_map(|list| Bson::Document(doc! { "$in": list })),
        1 => vec(scalars(), 0..3).prop_map(|list| Bson::Document(doc! { "$nin": list })),
        1 => any::<bool>().prop_map(|there| Bson::Document(doc! { "$exists": there })),
        1 => compared().prop_map(|condition| Bson::Document(doc! { "$elemMatch": condition })),
        1 => Just(Bson::Document(doc! { "$regex": "^x" })),
    ]
}

fn simple() -> impl Strategy<Value = Document> {
    let paths = prop_oneof![4 => Just("a"), 3 => Just("b"), 2 => Just("b.c"), 3 => Just("c")];
    vec((paths, conditions()), 1..3).prop_map(|fields| {
        fields.into_iter().map(|(path, condition)| (path.to_owned(), condition)).collect()
    })
}

fn filters() -> impl Strategy<Value = Document> {
    let branches = || vec(simple(), 1..4);
    prop_oneof![
        5 => simple(),
        3 => branches().prop_map(|branches| doc! { "$or": branches }),
        2 => (simple(), branches()).prop_map(|(outside, branches)| doc! { "$and": [outside, { "$or": branches }] }),
        1 => branches().prop_map(|branches| doc! { "$and": branches }),
        1 => branches().prop_map(|branches| doc! { "$nor": branches }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_index_changes_no_answer(
        documents in vec(documents(), 1..40),
        filters in vec(filters(), 12),
        chosen in vec(any::<bool>(), 6),
    ) {
        let db = Database::new();
        let numbered = (0i32..).zip(documents).map(|(id, document)| {
            let mut whole = doc! { "_id": id };
            whole.extend(document);
            whole
        });
        let documents: Vec<_> = numbered.collect();
        db.insert("plain", documents.clone());
        for (at, (key, options)) in indexes().into_iter().enumerate().filter(|(at, _)| chosen[*at]) {
            let mut spec = doc! { "key": key, "name": format!("i{at}") };
            spec.extend(options);
            db.run(doc! { "createIndexes": "indexed", "indexes": [spec] });
        }
        // Parallel arrays cannot be indexed; they are left out of both.
        for document in documents {
            let reply = db.run(doc! { "insert": "indexed", "documents": [document.clone()] });
            if reply.contains_key("writeErrors") {
                let id = document.get("_id").unwrap().clone();
                db.run(doc! { "delete": "plain", "deletes": [{ "q": { "_id": id }, "limit": 1 }] });
            }
        }
        for filter in filters {
            let ids = |name: &str| {
                let found = db.find(doc! { "find": name, "filter": filter.clone(), "projection": { "_id": 1 }, "batchSize": 3 });
                let mut ids: Vec<_> = found.iter().map(|document| document.get_i32("_id").unwrap()).collect();
                ids.sort_unstable();
                ids
            };
            let expected = ids("plain");
            prop_assert_eq!(&ids("indexed"), &expected, "{}", filter);
            let count = db.run(doc! { "count": "indexed", "query": filter.clone() });
            prop_assert_eq!(count.get_i32("n").unwrap() as usize, expected.len(), "{}", filter);
            for sort in [doc! { "a": 1, "_id": 1 }, doc! { "c": -1, "_id": 1 }] {
                let sorted = |name: &str| db.find(doc! { "find": name, "filter": filter.clone(), "sort": sort.clone(), "limit": 7 });
                // NaN equals itself in words only.
                prop_assert_eq!(format!("{:?}", sorted("indexed")), format!("{:?}", sorted("plain")), "{} {}", filter, sort);
            }
        }
    }

    #[test]
    fn writes_do_what_they_say(steps in vec(steps(), 1..60)) {
        let db = Database::new();
        db.run(doc! { "createIndexes": "t", "indexes": [{ "key": { "a": 1 }, "name": "a" }, { "key": { "b": -1 }, "name": "b" }] });
        let mut model: Vec<Document> = Vec::new();
        for step in steps {
            step.apply(&db, &mut model);
            let stored = db.find(doc! { "find": "t", "hint": { "$natural": 1 } });
            prop_assert_eq!(&stored, &model, "{:?}", step);
        }
        for n in 0..4 {
            let filter = doc! { "a": { "$gte": n } };
            let found = db.find(doc! { "find": "t", "filter": filter, "sort": { "_id": 1 } });
            let mut expected: Vec<_> = model.iter().filter(|document| Which::AtLeast(n).holds(document)).cloned().collect();
            expected.sort_by_key(|document| document.get_i32("_id").unwrap());
            prop_assert_eq!(found, expected);
        }
        let checked = db.run(doc! { "validate": "t" });
        prop_assert!(checked.get_bool("valid").unwrap(), "{}", checked);
    }
}

/// Which documents a step is about.
#[derive(Clone, Debug)]
enum Which {
    Id(i32),
    /// `a` is, or holds, a number at least this.
    AtLeast(i32),
    All,
}

/// What a step does to a field.
#[derive(Clone, Debug)]
enum Change {
    Set(i32),
    Unset,
    Increment(i32),
    Push(i32),
}

/// A write, as a user would think of it.
#[derive(Clone, Debug)]
enum Step {
    Insert(i32, Option<i32>),
    Update { which: Which, field: &'static str, change: Change, multi: bool, upsert: bool },
    Delete { which: Which, multi: bool },
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        4 => (0i32..8).prop_map(Which::Id),
        3 => (0i32..4).prop_map(Which::AtLeast),
        1 => Just(Which::All),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let change = prop_oneof![
        (0i32..4).prop_map(Change::Set),
        Just(Change::Unset),
        (-1i32..3).prop_map(Change::Increment),
        (0i32..4).prop_map(Change::Push),
    ];
    let field = prop_oneof![Just("a"), Just("b")];
    let updates = (which(), field, change, any::<bool>(), any::<bool>()).prop_map(
        |(which, field, change, multi, upsert)| Step::Update {
            which,
            field,
            change,
            multi,
            upsert,
        },
    );
    prop_oneof![
        4 => (0i32..8, proptest::option::of(0i32..4)).prop_map(|(id, a)| Step::Insert(id, a)),
        6 => updates,
        1 => (which(), any::<bool>()).prop_map(|(which, multi)| Step::Delete { which, multi }),
    ]
}

impl Which {
    fn filter(&self) -> Document {
        match self {
            Self::Id(id) => doc! { "_id": id },
            Self::AtLeast(least) => doc! { "a": { "$gte": least } },
            Self::All => Document::new(),
        }
    }

    fn holds(&self, document: &Document) -> bool {
        let least = |value: &Bson, least: i32| value.as_i32().is_some_and(|value| value >= least);
        match self {
            Self::Id(id) => document.get_i32("_id").unwrap() == *id,
            Self::AtLeast(bound) => match document.get("a") {
                Some(Bson::Array(elements)) => elements.iter().any(|value| least(value, *bound)),
                Some(value) => least(value, *bound),
                None => false,
            },
            Self::All => true,
        }
    }
}

impl Change {
    fn update(&self, field: &str) -> Document {
        match self {
            Self::Set(value) => doc! { "$set": { field: value } },
            Self::Unset => doc! { "$unset": { field: 1 } },
            Self::Increment(by) => doc! { "$inc": { field: by } },
            Self::Push(value) => doc! { "$push": { field: value } },
        }
    }

    /// Whether it can be done; nothing is changed if it cannot.
    fn apply(&self, document: &mut Document, field: &str) -> bool {
        match (self, document.get_mut(field)) {
            (Self::Unset, _) => {
                document.remove(field);
            }
            (Self::Set(value), Some(old)) => *old = Bson::Int32(*value),
            (Self::Increment(by), Some(Bson::Int32(old))) => *old += by,
            (Self::Push(value), Some(Bson::Array(elements))) => elements.push(Bson::Int32(*value)),
            (Self::Set(value) | Self::Increment(value), None) => {
                document.insert(field, *value);
            }
            (Self::Push(value), None) => {
                document.insert(field, vec![*value]);
            }
            (Self::Increment(_) | Self::Push(_), Some(_)) => return false,
        }
        true
    }
}

impl Step {
    fn apply(&self, db: &Database, model: &mut Vec<Document>) {
        match self {
            Self::Insert(id, a) => {
                let mut document = doc! { "_id": id };
                document.extend(a.map(|a| ("a".to_owned(), Bson::Int32(a))));
                let reply = db.run(doc! { "insert": "t", "documents": [document.clone()] });
                let taken = model.iter().any(|other| other.get("_id") == document.get("_id"));
                assert_eq!(reply.contains_key("writeErrors"), taken, "{reply}");
                if !taken {
                    model.push(document);
                }
            }
            Self::Update { which, field, change, multi, upsert } => {
                // A fresh ObjectId nobody could foretell.
                let upsert = *upsert && matches!(which, Which::Id(_));
                // Which of several is changed first, or at all, is the engine's affair: with an index it is the key's order.
                let multi = *multi || !matches!(which, Which::Id(_));
                let fails = model.iter().any(|document| {
                    which.holds(document) && !change.apply(&mut document.clone(), field)
                });
                if fails && multi && !matches!(which, Which::Id(_)) {
                    return;
                }
                let update = doc! { "q": which.filter(), "u": change.update(field), "multi": multi, "upsert": upsert };
                let reply = db.run(doc! { "update": "t", "updates": [update] });
                assert_eq!(reply.contains_key("writeErrors"), fails, "{self:?}: {reply}");
                let mut matched = 0;
                for document in model.iter_mut().filter(|document| which.holds(document)) {
                    change.apply(document, field);
                    matched += 1;
                }
                if let (Which::Id(id), 0, true) = (which, matched, upsert) {
                    let mut document = doc! { "_id": id };
                    change.apply(&mut document, field);
                    model.push(document);
                    matched = 1;
                }
                if !fails {
                    assert_eq!(reply.get_i32("n").unwrap(), matched, "{self:?}: {reply}");
                }
            }
            Self::Delete { which, multi } => {
                let multi = *multi || !matches!(which, Which::Id(_));
                let limit = i32::from(!multi);
                let reply = db.run(
                    doc! { "delete": "t", "deletes": [{ "q": which.filter(), "limit": limit }] },
                );
                let before = model.len();
                model.retain(|document| !which.holds(document));
                assert_eq!(reply.get_i32("n").unwrap() as usize, before - model.len());
            }
        }
    }
}
