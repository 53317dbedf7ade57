//! URLs as the WHATWG has them: taken apart, and put together again with one part changed.

use rquickjs::function::{Func, Opt};
use rquickjs::{Ctx, Object};
use url::{Position, Url};

type Result<T> = rquickjs::Result<T>;

/// Gives the natives those of URLs.
pub(super) fn install<'js>(natives: &Object<'js>) -> Result<()> {
    natives.set("url", Func::from(parse))?;
    natives.set("urlWith", Func::from(with))
}

/// The parts of a URL, taken relative to another one if there is one; `undefined` if it is none.
fn parse<'js>(
    ctx: Ctx<'js>,
    text: String,
    base: Opt<Option<String>>,
) -> Result<Option<Object<'js>>> {
    let parsed = match base.0.flatten() {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&text)),
        None => Url::parse(&text),
    };
    parsed.ok().map(|url| parts(&ctx, &url)).transpose()
}

/// The parts of a URL in which one is another; what does not fit leaves it as it was.
fn with<'js>(
    ctx: Ctx<'js>,
    href: String,
    part: String,
    value: String,
) -> Result<Option<Object<'js>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(None) };
    let given = |mark: char| {
        let value = value.strip_prefix(mark).unwrap_or(&value);
        (!value.is_empty()).then_some(value)
    };
    // A setter that refuses its value does nothing, as the standard has it.
    match part.as_str() {
        "protocol" => url.set_scheme(value.trim_end_matches(':')).unwrap_or_default(),
        "username" => url.set_username(&value).unwrap_or_default(),
        "password" => url.set_password(given('\0')).unwrap_or_default(),
        "hostname" => url.set_host(given('\0')).unwrap_or_default(),
        "host" => match value.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
            Some((host, Ok(port))) => {
                if url.set_host(Some(host)).is_ok() {
                    url.set_port(Some(port)).unwrap_or_default();
                }
            }
            _ => url.set_host(given('\0')).unwrap_or_default(),
        },
        "port" => url.set_port(value.parse().ok()).unwrap_or_default(),
        "pathname" => url.set_path(&value),
        "search" => url.set_query(given('?')),
        "hash" => url.set_fragment(given('#')),
        _ => {}
    }
    parts(&ctx, &url).map(Some)
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let marked = |mark: &str, text: Option<&str>| {
        text.filter(|text| !text.is_empty()).map(|text| format!("{mark}{text}")).unwrap_or_default()
    };
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let parts = Object::new(ctx.clone())?;
    parts.set("href", url.as_str())?;
    parts.set("origin", url.origin().ascii_serialization())?;
    parts.set("protocol", format!("{}:", url.scheme()))?;
    parts.set("username", url.username())?;
    parts.set("password", url.password().unwrap_or_default())?;
    parts.set("host", &url[Position::BeforeHost..Position::AfterPort])?;
    parts.set("hostname", url.host_str().unwrap_or_default())?;
    parts.set("port", port)?;
    parts.set("pathname", url.path())?;
    parts.set("search", marked("?", url.query()))?;
    parts.set("hash", marked("#", url.fragment()))?;
    Ok(parts)
}
