/* Lets the browser make a passkey, or sign with one, and sends what it says as an ordinary form. */
"use strict";
(() => {
  const can = window.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;

  async function answer(form) {
    const body = new URLSearchParams(new FormData(form));
    const asked = await fetch(form.dataset.options, { method: "POST", body, credentials: "same-origin" });
    if (!asked.ok || asked.redirected) throw new Error(`The testbed answered ${asked.status}; load this page anew.`);
    const options = await asked.json();
    const made = form.dataset.passkey === "create"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
    return JSON.stringify(made);
  }

  const sentences = {
    NotAllowedError: "It was not allowed, or took too long; try again.",
    InvalidStateError: "This device has a passkey for you already.",
    SecurityError: "Passkeys are for the testbed's own name; open it by that.",
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const wrong = form.querySelector("[role=alert]");
    const say = (text) => { wrong.textContent = text; wrong.hidden = !text; };
    form.hidden = false;
    if (!can) say("This browser is too old for passkeys.");
    form.querySelector("button").disabled = !can;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      say("");
      try {
        form.elements.credential.value = await answer(form);
        form.submit();
      } catch (error) {
        say(sentences[error.name] ?? error.message);
      }
    });
  }
})();
