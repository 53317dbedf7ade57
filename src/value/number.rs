//! Arithmetic on BSON numbers: promotion, overflow and Decimal128 are decided here and nowhere else.
