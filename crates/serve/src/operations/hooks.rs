//! Webhooks: addresses at which projects hear that their jobs are at an end.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::outside;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Hook, Manage};

/// A request to set a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRequest {
    /// The address, of `http` or `https`, that notifications are sent to.
    #[schema(example = "https://hooks.example.org/probity")]
    pub url: String,
}

/// A webhook that was just set.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HookView {
    /// The secret that notifications are signed with; it is shown this once.
    pub secret: String,
    /// The webhook.
    #[serde(flatten)]
    pub hook: Hook,
}

/// Returns the webhook of a project, if it has one.
pub async fn hook(service: &Service, manage: &Manage) -> Result<Option<Hook>, Problem> {
    let manage = manage.clone();
    service.store(move |store| store.hook(&manage)).await
}

/// Sets the webhook of a project in place of an earlier one. Fails when nothing can be sent to such
/// an address, or there is no such project any more.
pub async fn set_hook(
    service: &Service,
    manage: &Manage,
    request: &HookRequest,
) -> Result<HookView, Problem> {
    let url = outside::url(&request.url, service.private_hooks).map_err(Problem::invalid)?;
    let manage = manage.clone();
    let set = service
        .store(move |store| store.set_hook(&manage, &url))
        .await?;
    let (hook, secret) = set.ok_or_else(|| Problem::missing("project"))?;
    Ok(HookView { secret, hook })
}

/// Removes the webhook of a project, if it has one.
pub async fn remove_hook(service: &Service, manage: &Manage) -> Result<(), Problem> {
    let manage = manage.clone();
    service.store(move |store| store.remove_hook(&manage)).await
}
