//! Laws that hold for every filter and document.

use bson::{Bson, DateTime, Document, bson, doc};
use proptest::prelude::*;

use super::{Filter, Sort};
use crate::engine::expr::Scope;
use crate::engine::update::Update;
use crate::value::compare::{compare, identical_documents};

fn scope() -> Scope {
    Scope::new(DateTime::from_millis(0))
}

fn filter(query: &Document) -> Filter {
    Filter::parse(query, &scope()).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn matches(query: &Document, document: &Document) -> bool {
    filter(query).matches(document).expect("no expression fails here")
}

fn scalars() -> impl Strategy<Value = Bson> {
    prop_oneof![
        (-2i32..3).prop_map(Bson::Int32),
        (-2i64..3).prop_map(|half| Bson::Double(half as f64 / 2.0)),
        Just(Bson::Null),
        "[ab]{0,2}".prop_map(Bson::String),
        any::<bool>().prop_map(Bson::Boolean),
    ]
}

fn values() -> impl Strategy<Value = Bson> {
    scalars().prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
            proptest::collection::vec(("[ab0]", inner), 0..3)
                .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

fn documents() -> impl Strategy<Value = Document> {
    proptest::collection::vec(("[ab]", values()), 0..3)
        .prop_map(|fields| fields.into_iter().collect())
}

fn paths() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]", "[ab]\\.[ab0]", Just("a.b.0".to_owned())]
}

fn operators() -> impl Strategy<Value = Document> {
    prop_oneof![
        (
            prop_oneof![
                Just("$eq"),
                Just("$ne"),
                Just("$gt"),
                Just("$gte"),
                Just("$lt"),
                Just("$lte")
            ],
            values()
        )
            .prop_map(|(name, value)| {
                let mut operator = Document::new();
                operator.insert(name, value);
                operator
            }),
        (
            prop_oneof![Just("$in"), Just("$nin"), Just("$all")],
            proptest::collection::vec(scalars(), 0..3)
        )
            .prop_map(|(name, values)| {
                let mut operator = Document::new();
                operator.insert(name, values);
                operator
            }),
        any::<bool>().prop_map(|there| doc! {"$exists": there}),
        Just(doc! {"$type": ["number", "array"]}),
        (0i32..3).prop_map(|size| doc! {"$size": size}),
        Just(doc! {"$regex": "^a"}),
        Just(doc! {"$mod": [2, 0]}),
        scalars().prop_map(|bound| doc! {"$elemMatch": {"$gte": bound}}),
        scalars().prop_map(|value| doc! {"$elemMatch": {"b": value}}),
        scalars().prop_map(|bound| doc! {"$not": {"$lt": bound}}),
    ]
}

fn queries() -> impl Strategy<Value = Document> {
    let field = (paths(), operators()).prop_map(|(path, operator)| {
        let mut query = Document::new();
        query.insert(path, operator);
        query
    });
    field.prop_recursive(2, 6, 3, |inner| {
        (
            prop_oneof![Just("$and"), Just("$or"), Just("$nor")],
            proptest::collection::vec(inner, 1..3),
        )
            .prop_map(|(name, queries)| {
                let mut query = Document::new();
                query.insert(name, queries);
                query
            })
    })
}

fn updates() -> impl Strategy<Value = Document> {
    let number = prop_oneof![(-2i32..3).prop_map(Bson::Int32), Just(Bson::Double(0.5))];
    let argument = prop_oneof![
        (Just("$set"), values()),
        (Just("$unset"), Just(bson!(""))),
        (Just("$inc"), number.clone()),
        (Just("$mul"), number),
        (Just("$min"), values()),
        (Just("$push"), values()),
        (Just("$addToSet"), scalars()),
        (Just("$pull"), scalars()),
        (Just("$pop"), Just(bson!(1))),
        (Just("$rename"), Just(bson!("c"))),
    ];
    (paths(), argument).prop_map(|(path, (name, value))| {
        let mut fields = Document::new();
        fields.insert(path, value);
        let mut update = Document::new();
        update.insert(name, fields);
        update
    })
}

proptest! {
    #[test]
    fn nor_is_the_negation_and_and_repeats(query in queries(), document in documents()) {
        let held = matches(&query, &document);
        prop_assert_eq!(matches(&doc! {"$nor": [query.clone()]}, &document), !held);
        prop_assert_eq!(matches(&doc! {"$and": [query.clone(), query.clone()]}, &document), held);
        prop_assert_eq!(filter(&query).failure(&document).unwrap().is_none(), held);
    }

    #[test]
    fn a_filter_told_back_matches_the_same(query in queries(), document in documents()) {
        let told = filter(&query).describe();
        prop_assert_eq!(matches(&told, &document), matches(&query, &document), "{}", told);
    }

    #[test]
    fn sorting_puts_documents_in_order(documents in proptest::collection::vec(documents(), 0..6)) {
        let sort = Sort::parse(&doc! {"a": 1}).unwrap();
        let mut sorted = documents.clone();
        sort.sort(&mut sorted).unwrap();
        for pair in sorted.windows(2) {
            prop_assert!(sort.compare(&pair[0], &pair[1]).unwrap().is_le());
        }
        prop_assert_eq!(sorted.len(), documents.len());
    }

    #[test]
    fn an_update_says_rightly_whether_it_modified(update in updates(), document in documents()) {
        let compiled = Update::parse(&Bson::Document(update.clone()), &[], &scope()).unwrap();
        if let Ok(applied) = compiled.apply(&document, None, &scope()) {
            prop_assert_eq!(applied.modified, !identical_documents(&applied.document, &document), "{}", update);
            // Setting and its like come to rest after one step.
            if update.contains_key("$set") || update.contains_key("$min") || update.contains_key("$addToSet") {
                let again = compiled.apply(&applied.document, None, &scope()).unwrap();
                prop_assert!(!again.modified, "{}", update);
            }
        }
    }

    #[test]
    fn equality_agrees_with_the_order_of_values(value in values(), other in values()) {
        if compare(&value, &other).is_eq() {
            let (query, document) = (doc! {"a": {"$eq": other}}, doc! {"a": value});
            prop_assert!(matches(&query, &document));
        }
    }
}
