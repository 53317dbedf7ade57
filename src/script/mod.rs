//! JavaScript: QuickJS behind one native door, and BSON in and out of it.
