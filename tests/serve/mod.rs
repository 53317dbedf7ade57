//! `tally serve`: what clients send and get, clients that nobody here wrote, clients that mean harm, and its end.

mod access;
mod awaiting;
pub mod clients;
mod ending;
mod failing;
mod hostile;
mod joined;
mod protocol;
pub mod server;
mod transcripts;
mod translated;
