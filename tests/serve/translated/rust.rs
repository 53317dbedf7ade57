//! The calls in Rust as `translate` writes them, which the test that compiles this compares with what it writes today.

use std::fmt::Write;

use futures_util::TryStreamExt;
use mongodb::options::ReturnDocument;
use mongodb::{
    Client,
    bson::{Document, doc},
};

/// Does the calls and answers with what is to be printed of them.
pub async fn calls(address: &str) -> mongodb::error::Result<String> {
    let client = Client::with_uri_str(address).await?;
    let db = client.database("test");
    let mut out = String::new();
    for _ in 0..2 {
        let document = db
            .collection::<Document>("counters")
            .find_one_and_update(doc! { "_id": "users" }, doc! { "$inc": { "next": 1 } })
            .upsert(true)
            .return_document(ReturnDocument::After)
            .await?;
        show(&mut out, &document.unwrap(), "next");
    }
    let result = db
        .collection::<Document>("users")
        .insert_one(doc! { "_id": 1, "n": 30, "city": "Quito" })
        .await?;
    assert_eq!(result.inserted_id.as_i32(), Some(1));
    let result = db
        .collection::<Document>("users")
        .insert_many(vec![
            doc! { "_id": 2, "n": 40, "city": "Lima" },
            doc! { "_id": 3, "n": 50, "city": "Quito" },
            doc! { "_id": 4, "n": 60, "city": "Lima" },
        ])
        .await?;
    assert_eq!(result.inserted_ids.len(), 3);
    let result = db
        .collection::<Document>("users")
        .update_one(doc! { "_id": 1 }, doc! { "$set": { "name": "Ann" } })
        .await?;
    assert_eq!(result.modified_count, 1);
    let result = db
        .collection::<Document>("users")
        .update_many(doc! {}, doc! { "$inc": { "n": 1 } })
        .await?;
    assert_eq!(result.modified_count, 4);
    let result = db
        .collection::<Document>("users")
        .replace_one(doc! { "_id": 4 }, doc! { "n": 7, "city": "Cuzco" })
        .await?;
    assert_eq!(result.modified_count, 1);
    let result = db.collection::<Document>("users").delete_one(doc! { "_id": 2 }).await?;
    assert_eq!(result.deleted_count, 1);
    let mut documents = db
        .collection::<Document>("users")
        .find(doc! { "n": { "$gte": 7 } })
        .projection(doc! { "n": 1 })
        .sort(doc! { "_id": -1 })
        .limit(2)
        .await?;
    while let Some(one) = documents.try_next().await? {
        show(&mut out, &one, "n");
    }
    let mut documents = db
        .collection::<Document>("users")
        .aggregate(vec![
            doc! { "$group": { "_id": "$city", "n": { "$sum": "$n" } } },
            doc! { "$sort": { "_id": 1 } },
        ])
        .await?;
    while let Some(one) = documents.try_next().await? {
        show(&mut out, &one, "n");
    }
    let values = db.collection::<Document>("users").distinct("city", doc! {}).await?;
    for one in values {
        writeln!(out, "{}", one.as_str().unwrap()).unwrap();
    }
    let document =
        db.collection::<Document>("counters").find_one_and_delete(doc! { "_id": "users" }).await?;
    show(&mut out, &document.unwrap(), "next");
    Ok(out)
}

/// A line with a document's `_id` and another field.
fn show(out: &mut String, document: &Document, field: &str) {
    let id = document.get("_id").unwrap();
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    writeln!(out, "{id} {}", document.get(field).unwrap()).unwrap();
}
