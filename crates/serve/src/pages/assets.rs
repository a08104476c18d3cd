//! Style sheet, script and icon of the pages, under names that hold their hash: what has a name
//! never changes.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use probity_run::run_directory::hex;

/// A file that the pages load.
struct Asset {
    path: String,
    media_type: &'static str,
    text: Bytes,
}

impl Asset {
    fn new(stem: &str, ending: &str, media_type: &'static str, text: impl Into<Bytes>) -> Asset {
        let text: Bytes = text.into();
        let hash = hex(&Sha256::digest(&text)[..8]);
        Asset {
            path: format!("/static/{stem}-{hash}.{ending}"),
            media_type,
            text,
        }
    }
}

static STYLES: LazyLock<Asset> = LazyLock::new(|| {
    let own = include_str!("../../templates/service/style.css");
    let text = format!("{own}{}", probity_report::CHART_STYLE);
    Asset::new("style", "css", "text/css; charset=utf-8", text)
});

static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../templates/service/script.js");
    Asset::new("script", "js", "text/javascript; charset=utf-8", text)
});

static ICON: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../templates/service/icon.svg");
    Asset::new("icon", "svg", "image/svg+xml", text)
});

/// The address of the style sheet.
pub(super) fn styles() -> &'static str {
    &STYLES.path
}

/// The address of the script.
pub(super) fn script() -> &'static str {
    &SCRIPT.path
}

/// The address of the icon.
pub(super) fn icon() -> &'static str {
    &ICON.path
}

/// Sends one of the files; they hold nothing of a user, so nobody has to be logged in.
pub(super) async fn send(Path(name): Path<String>) -> Response {
    let assets = [&*STYLES, &*SCRIPT, &*ICON];
    let wanted = format!("/static/{name}");
    match assets.into_iter().find(|asset| asset.path == wanted) {
        Some(asset) => (
            [
                (
                    header::CONTENT_TYPE,
                    HeaderValue::from_static(asset.media_type),
                ),
                (
                    header::CACHE_CONTROL,
                    HeaderValue::from_static("public, max-age=31536000, immutable"),
                ),
            ],
            asset.text.clone(),
        )
            .into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
