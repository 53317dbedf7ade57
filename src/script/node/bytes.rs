//! Texts as bytes and back, digests and random bytes: what `Buffer` and `crypto` stand on.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use rquickjs::function::Func;
use rquickjs::{Ctx, FromJs, Object, TypedArray, Value};
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::super::realm::realm;
use super::super::{convert, errors};

type Result<T> = rquickjs::Result<T>;

/// Gives the natives those of bytes.
pub(super) fn install<'js>(natives: &Object<'js>) -> Result<()> {
    natives.set("encode", Func::from(encode))?;
    natives.set("decode", Func::from(decode))?;
    natives.set("isUtf8", Func::from(is_utf8))?;
    natives.set("digest", Func::from(digest))?;
    natives.set("hmac", Func::from(hmac_of))?;
    natives.set("random", Func::from(random))
}

/// Bytes that a script gives: a copy of a buffer's, or of a view's of one.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let text: String = realm(ctx).core("bytes")?.call((value,))?;
        Ok(Self(text.chars().map(|character| character as u32 as u8).collect()))
    }
}

/// Node reads base64 with and without its padding, and whatever bits are left over.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose =
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT.with_encode_padding(false));

/// Bytes as a text.
fn encode(Bytes(bytes): Bytes, encoding: String) -> String {
    let bytes = bytes.as_slice();
    match encoding.as_str() {
        "hex" => hex(bytes),
        "base64" => STANDARD.encode(bytes),
        "base64url" => URL_SAFE.encode(bytes),
        "latin1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
        "ascii" => bytes.iter().map(|byte| char::from(byte & 0x7f)).collect(),
        "utf16le" => {
            let (units, _) = bytes.as_chunks::<2>();
            let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
            String::from_utf16_lossy(&units)
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// A text as bytes. What is no digit ends a text of hexadecimal ones and is left out of base64, as in Node.
fn decode<'js>(ctx: Ctx<'js>, text: Value<'js>, encoding: String) -> Result<TypedArray<'js, u8>> {
    let text = convert::string(&ctx, &realm(&ctx), &text)?;
    let bytes = match encoding.as_str() {
        "hex" => unhex(&text),
        "base64" | "base64url" => {
            let plain =
                text.chars().take_while(|letter| *letter != '=').filter_map(
                    |letter| match letter {
                        '-' => Some('+'),
                        '_' => Some('/'),
                        letter if letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/') => {
                            Some(letter)
                        }
                        _ => None,
                    },
                );
            let mut plain: String = plain.collect();
            if plain.len() % 4 == 1 {
                plain.pop();
            }
            STANDARD.decode(plain).unwrap_or_default()
        }
        "latin1" | "ascii" => text.encode_utf16().map(|unit| unit as u8).collect(),
        "utf16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.into_bytes(),
    };
    TypedArray::new(ctx, bytes)
}

fn is_utf8(Bytes(bytes): Bytes) -> bool {
    std::str::from_utf8(&bytes).is_ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    pairs.iter().map_while(byte).collect()
}

/// A digest; `undefined` for an algorithm that is not there.
fn digest<'js>(
    ctx: Ctx<'js>,
    algorithm: String,
    Bytes(bytes): Bytes,
) -> Result<Option<TypedArray<'js, u8>>> {
    let digest = match algorithm.as_str() {
        "md5" => Md5::digest(bytes).to_vec(),
        "sha1" => Sha1::digest(bytes).to_vec(),
        "sha224" => Sha224::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        "sha384" => Sha384::digest(bytes).to_vec(),
        "sha512" => Sha512::digest(bytes).to_vec(),
        _ => return Ok(None),
    };
    TypedArray::new(ctx, digest).map(Some)
}

/// A digest under a key; `undefined` for an algorithm that is not there.
fn hmac_of<'js>(
    ctx: Ctx<'js>,
    algorithm: String,
    Bytes(key): Bytes,
    Bytes(bytes): Bytes,
) -> Result<Option<TypedArray<'js, u8>>> {
    fn sign<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut mac = <M as KeyInit>::new_from_slice(key).expect("a key may have any length");
        mac.update(bytes);
        mac.finalize().into_bytes().to_vec()
    }
    let (key, bytes) = (&key[..], &bytes[..]);
    let digest = match algorithm.as_str() {
        "md5" => sign::<Hmac<Md5>>(key, bytes),
        "sha1" => sign::<Hmac<Sha1>>(key, bytes),
        "sha224" => sign::<Hmac<Sha224>>(key, bytes),
        "sha256" => sign::<Hmac<Sha256>>(key, bytes),
        "sha384" => sign::<Hmac<Sha384>>(key, bytes),
        "sha512" => sign::<Hmac<Sha512>>(key, bytes),
        _ => return Ok(None),
    };
    TypedArray::new(ctx, digest).map(Some)
}

/// So many bytes of the system's randomness.
fn random<'js>(ctx: Ctx<'js>, count: usize) -> Result<TypedArray<'js, u8>> {
    let mut bytes = vec![0; count];
    match getrandom::fill(&mut bytes) {
        Ok(()) => TypedArray::new(ctx, bytes),
        Err(error) => {
            let text = format!("the system gives no random bytes: {error}");
            Err(errors::plain_error(&ctx, &realm(&ctx), &text))
        }
    }
}
