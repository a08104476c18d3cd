// What pages of the service do better with a script; each of them works without.
"use strict";

// A job's page follows the job: its events carry the state as the page would show it after loading again.
function follow(job) {
  const state = document.getElementById("job-state");
  const phase = document.getElementById("job-phase");
  const bar = document.getElementById("job-bar");
  const message = document.getElementById("job-message");
  const events = new EventSource(job.dataset.events);
  events.addEventListener("view", (event) => {
    const view = JSON.parse(event.data);
    job.dataset.state = view.state;
    state.className = "state " + view.state_class;
    state.textContent = view.state_text;
    phase.textContent = view.phase;
    message.textContent = view.message;
    if (view.percent === null) {
      bar.removeAttribute("value");
    } else {
      bar.value = view.percent;
    }
    document.getElementById("job-progress").hidden = view.is_over;
    document.getElementById("job-running").hidden = view.is_over;
    document.getElementById("job-done").hidden = !view.is_done;
    document.getElementById("job-ended").hidden = !view.can_resume;
    if (view.is_over) {
      events.close();
      document.title = view.state_text + " · " + document.title.replace(/^.* · (?=.* · )/, "");
    }
  });
}

// The errors of a form are where a reader starts.
function showErrors(errors) {
  errors.tabIndex = -1;
  errors.focus();
  errors.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    // Not a selector: the names of fields have dots.
    const field = link && document.getElementById(link.hash.slice(1));
    if (field) {
      const fold = field.closest("details");
      if (fold) {
        fold.open = true;
      }
    }
  });
}

const job = document.getElementById("job");
if (job !== null && job.dataset.events !== "") {
  follow(job);
}
const errors = document.getElementById("errors");
if (errors !== null) {
  showErrors(errors);
}
