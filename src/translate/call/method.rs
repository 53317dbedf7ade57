//! The methods that a call can be of.

/// A method that drivers have, under the name that they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::translate) enum Method {
    Aggregate,
    BulkWrite,
    CountDocuments,
    CreateCollection,
    CreateIndex,
    CreateIndexes,
    DeleteMany,
    DeleteOne,
    Distinct,
    Drop,
    DropDatabase,
    DropIndex,
    DropIndexes,
    EstimatedDocumentCount,
    Find,
    FindOne,
    FindOneAndDelete,
    FindOneAndReplace,
    FindOneAndUpdate,
    InsertMany,
    InsertOne,
    ListCollectionNames,
    ListCollections,
    ListIndexes,
    ReplaceOne,
    RunCommand,
    UpdateMany,
    UpdateOne,
}

impl Method {
    /// Its name in the specification, in camel case.
    pub(in crate::translate) fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "aggregate",
            Self::BulkWrite => "bulkWrite",
            Self::CountDocuments => "countDocuments",
            Self::CreateCollection => "createCollection",
            Self::CreateIndex => "createIndex",
            Self::CreateIndexes => "createIndexes",
            Self::DeleteMany => "deleteMany",
            Self::DeleteOne => "deleteOne",
            Self::Distinct => "distinct",
            Self::Drop => "drop",
            Self::DropDatabase => "dropDatabase",
            Self::DropIndex => "dropIndex",
            Self::DropIndexes => "dropIndexes",
            Self::EstimatedDocumentCount => "estimatedDocumentCount",
            Self::Find => "find",
            Self::FindOne => "findOne",
            Self::FindOneAndDelete => "findOneAndDelete",
            Self::FindOneAndReplace => "findOneAndReplace",
            Self::FindOneAndUpdate => "findOneAndUpdate",
            Self::InsertMany => "insertMany",
            Self::InsertOne => "insertOne",
            Self::ListCollectionNames => "listCollectionNames",
            Self::ListCollections => "listCollections",
            Self::ListIndexes => "listIndexes",
            Self::ReplaceOne => "replaceOne",
            Self::RunCommand => "runCommand",
            Self::UpdateMany => "updateMany",
            Self::UpdateOne => "updateOne",
        }
    }

    /// What its answer is called in code: `document`, `documents`, `count`... Empty when nobody looks at it.
    pub(in crate::translate) fn answer(self) -> &'static str {
        match self {
            Self::FindOne
            | Self::FindOneAndDelete
            | Self::FindOneAndReplace
            | Self::FindOneAndUpdate => "document",
            Self::Aggregate | Self::Find => "documents",
            Self::CountDocuments | Self::EstimatedDocumentCount => "count",
            Self::Distinct => "values",
            Self::ListCollectionNames => "names",
            Self::ListCollections => "collections",
            Self::ListIndexes => "indexes",
            Self::RunCommand => "reply",
            Self::BulkWrite
            | Self::DeleteMany
            | Self::DeleteOne
            | Self::InsertMany
            | Self::InsertOne
            | Self::ReplaceOne
            | Self::UpdateMany
            | Self::UpdateOne => "result",
            Self::CreateCollection
            | Self::CreateIndex
            | Self::CreateIndexes
            | Self::Drop
            | Self::DropDatabase
            | Self::DropIndex
            | Self::DropIndexes => "",
        }
    }
}
