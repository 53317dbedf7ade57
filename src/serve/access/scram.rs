//! SCRAM-SHA-1 and SCRAM-SHA-256, the server's side: a client proves that it knows a password, and neither says it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use bson::{Bson, Document, doc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::{Error, Result};
use crate::{bad_value, refuse};

/// How a password is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanism {
    Sha1,
    Sha256,
}

impl Mechanism {
    pub(super) const ALL: [Self; 2] = [Self::Sha1, Self::Sha256];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SCRAM-SHA-1",
            Self::Sha256 => "SCRAM-SHA-256",
        }
    }

    /// How often a password is hashed, as a server does by default.
    fn iterations(self) -> u32 {
        match self {
            Self::Sha1 => 10_000,
            Self::Sha256 => 15_000,
        }
    }

    /// The length of a salt: that of a hash without the number that is put behind it.
    fn salt(self) -> usize {
        match self {
            Self::Sha1 => 16,
            Self::Sha256 => 28,
        }
    }

    fn hash(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }

    fn mac(self, key: &[u8], bytes: &[u8]) -> Vec<u8> {
        const ANY: &str = "a key may have any length";
        match self {
            Self::Sha1 => {
                let mac = Hmac::<Sha1>::new_from_slice(key).expect(ANY).chain_update(bytes);
                mac.finalize().into_bytes().to_vec()
            }
            Self::Sha256 => {
                let mac = Hmac::<Sha256>::new_from_slice(key).expect(ANY).chain_update(bytes);
                mac.finalize().into_bytes().to_vec()
            }
        }
    }

    /// A password, hashed so often.
    fn salted(self, password: &[u8], salt: &[u8], iterations: u32) -> Vec<u8> {
        match self {
            Self::Sha1 => {
                let mut key = vec![0; 20];
                pbkdf2::pbkdf2_hmac::<Sha1>(password, salt, iterations, &mut key);
                key
            }
            Self::Sha256 => {
                let mut key = vec![0; 32];
                pbkdf2::pbkdf2_hmac::<Sha256>(password, salt, iterations, &mut key);
                key
            }
        }
    }

    /// A password as the mechanism takes it.
    fn prepared(self, user: &str, password: &str) -> Result<String> {
        match self {
            // MongoDB's own digest, older than SCRAM.
            Self::Sha1 => {
                let digest = Md5::digest(format!("{user}:mongo:{password}"));
                Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
            }
            Self::Sha256 => stringprep::saslprep(password)
                .map(Into::into)
                .map_err(|_| bad_value!("Error preflighting normalization: prohibited character")),
        }
    }
}

/// Bytes that nobody can guess.
pub(super) fn random(length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes)
        .map_err(|error| refuse!(INTERNAL_ERROR, "the system has no random numbers: {error}"))?;
    Ok(bytes)
}

/// What is kept of a password: enough to recognise who knows it, and not enough to log in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credential {
    mechanism: Mechanism,
    iterations: u32,
    salt: Vec<u8>,
    stored_key: Vec<u8>,
    server_key: Vec<u8>,
}

impl Credential {
    /// What to keep of a new password.
    pub(super) fn make(mechanism: Mechanism, user: &str, password: &str) -> Result<Self> {
        let salt = random(mechanism.salt())?;
        Self::of(mechanism, user, password, salt, mechanism.iterations())
    }

    fn of(
        mechanism: Mechanism,
        user: &str,
        password: &str,
        salt: Vec<u8>,
        iterations: u32,
    ) -> Result<Self> {
        let password = mechanism.prepared(user, password)?;
        let salted = mechanism.salted(password.as_bytes(), &salt, iterations);
        let stored_key = mechanism.hash(&mechanism.mac(&salted, b"Client Key"));
        let server_key = mechanism.mac(&salted, b"Server Key");
        Ok(Self { mechanism, iterations, salt, stored_key, server_key })
    }

    /// As it stands in the user's document.
    pub(super) fn document(&self) -> Document {
        doc! {
            "iterationCount": i32::try_from(self.iterations).unwrap_or(i32::MAX),
            "salt": BASE64.encode(&self.salt),
            "storedKey": BASE64.encode(&self.stored_key),
            "serverKey": BASE64.encode(&self.server_key),
        }
    }

    /// From the user's document.
    pub(super) fn read(mechanism: Mechanism, credentials: &Document) -> Option<Self> {
        let document = credentials.get_document(mechanism.name()).ok()?;
        let bytes = |field: &str| BASE64.decode(document.get_str(field).ok()?).ok();
        let iterations = match document.get("iterationCount")? {
            Bson::Int32(number) => u32::try_from(*number).ok()?,
            _ => return None,
        };
        let (salt, stored_key) = (bytes("salt")?, bytes("storedKey")?);
        Some(Self { mechanism, iterations, salt, stored_key, server_key: bytes("serverKey")? })
    }
}

/// The client's first words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct First {
    pub(super) user: String,
    /// All of it but the part about channels.
    bare: String,
    nonce: String,
}

impl First {
    pub(super) fn read(payload: &[u8]) -> Result<Self> {
        let text = str::from_utf8(payload).map_err(|_| malformed())?;
        // No channel is bound, and nobody acts for anybody else.
        let bare = text.strip_prefix("n,,").ok_or_else(malformed)?;
        let mut parts = bare.split(',');
        let user = parts.next().and_then(|part| part.strip_prefix("n=")).ok_or_else(malformed)?;
        let nonce = parts.next().and_then(|part| part.strip_prefix("r=")).ok_or_else(malformed)?;
        let user = user.replace("=2C", ",").replace("=3D", "=");
        Ok(Self { user, bare: bare.to_owned(), nonce: nonce.to_owned() })
    }
}

/// A login that waits for the client's proof.
pub(super) struct Exchange {
    credential: Credential,
    nonce: String,
    /// What both have said so far.
    said: String,
}

impl Exchange {
    /// Begins, with the server's first words.
    pub(super) fn begin(credential: Credential, first: &First) -> Result<(Self, String)> {
        let own = BASE64.encode(random(24)?);
        Ok(Self::with(credential, first, &own))
    }

    fn with(credential: Credential, first: &First, own: &str) -> (Self, String) {
        let nonce = format!("{}{own}", first.nonce);
        let salt = BASE64.encode(&credential.salt);
        let words = format!("r={nonce},s={salt},i={}", credential.iterations);
        let said = format!("{},{words}", first.bare);
        (Self { credential, nonce, said }, words)
    }

    /// Checks the client's proof. Answers with the server's own, by which the client knows that it is no impostor.
    pub(super) fn finish(self, payload: &[u8]) -> Result<String> {
        let text = str::from_utf8(payload).map_err(|_| malformed())?;
        let (unproved, proof) = text.rsplit_once(",p=").ok_or_else(malformed)?;
        let mut parts = unproved.split(',');
        let channel = parts.next().and_then(|part| part.strip_prefix("c="));
        let nonce = parts.next().and_then(|part| part.strip_prefix("r="));
        if channel != Some("biws") || nonce != Some(&self.nonce) {
            return Err(failed());
        }
        let Credential { mechanism, stored_key, server_key, .. } = &self.credential;
        let said = format!("{},{unproved}", self.said);
        let proof = BASE64.decode(proof).map_err(|_| malformed())?;
        let signature = mechanism.mac(stored_key, said.as_bytes());
        if proof.len() != signature.len() {
            return Err(failed());
        }
        let key: Vec<u8> = proof.iter().zip(&signature).map(|(one, other)| one ^ other).collect();
        if !bool::from(mechanism.hash(&key).ct_eq(stored_key)) {
            return Err(failed());
        }
        Ok(format!("v={}", BASE64.encode(mechanism.mac(server_key, said.as_bytes()))))
    }
}

/// Whatever is wrong with a login, nobody is told what.
pub(super) fn failed() -> Error {
    refuse!(AUTHENTICATION_FAILED, "Authentication failed.")
}

fn malformed() -> Error {
    refuse!(AUTHENTICATION_FAILED, "Authentication failed.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(
        mechanism: Mechanism,
        user: &str,
        first: &str,
        salt: &str,
        iterations: u32,
        own: &str,
    ) -> (Exchange, String) {
        let salt = BASE64.decode(salt).expect("a salt");
        let password = match mechanism {
            // The examples of the standard hash the password as it is.
            Mechanism::Sha1 => {
                let salted = mechanism.salted(b"pencil", &salt, iterations);
                let stored_key = mechanism.hash(&mechanism.mac(&salted, b"Client Key"));
                let server_key = mechanism.mac(&salted, b"Server Key");
                Credential { mechanism, iterations, salt, stored_key, server_key }
            }
            Mechanism::Sha256 => {
                Credential::of(mechanism, user, "pencil", salt, iterations).expect("one")
            }
        };
        let first = First::read(first.as_bytes()).expect("first words");
        assert_eq!(first.user, user);
        Exchange::with(password, &first, own)
    }

    /// The example of RFC 5802.
    #[test]
    fn sha_1_goes_as_in_its_standard() {
        let (exchange, words) = exchange(
            Mechanism::Sha1,
            "user",
            "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
            "QSXCR+Q6sek8bf92",
            4096,
            "3rfcNHYJY1ZVvWVs7j",
        );
        assert_eq!(words, "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096");
        let proof =
            b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=";
        assert_eq!(exchange.finish(proof), Ok("v=rmF9pqV8S7suAoZWja4dJRkFsKQ=".to_owned()));
    }

    /// The example of RFC 7677.
    #[test]
    fn sha_256_goes_as_in_its_standard() {
        let begin = || {
            let first = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
            let own = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
            exchange(Mechanism::Sha256, "user", first, "W22ZaJ0SNY7soEsUEjb6gQ==", 4096, own)
        };
        let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        assert_eq!(begin().1, format!("r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"));
        let proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let last = |nonce: &str, proof: &str| format!("c=biws,r={nonce},p={proof}");
        let server = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".to_owned();
        assert_eq!(begin().0.finish(last(nonce, proof).as_bytes()), Ok(server));
        for wrong in [
            last(nonce, "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVU="),
            last(nonce, ""),
            last(nonce, "x"),
            last("other", proof),
            last(nonce, proof).replace("biws", "eSws"),
            String::new(),
        ] {
            assert_eq!(begin().0.finish(wrong.as_bytes()), Err(failed()), "{wrong}");
        }
    }

    #[test]
    fn a_name_may_hold_any_character() {
        let first = First::read(b"n,,n=a=2Cb=3D,r=x").expect("first words");
        assert_eq!(first.user, "a,b=");
        for wrong in ["", "n=u,r=x", "y,,n=u,r=x", "n,,r=x", "n,,n=u"] {
            First::read(wrong.as_bytes()).expect_err("no first words");
        }
    }
}
