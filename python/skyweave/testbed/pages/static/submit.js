/* Reads a study file into the form, which goes as text. */
"use strict";
(() => {
  const file = document.getElementById("file");
  file.closest("p").hidden = false;
  file.addEventListener("change", async () => {
    if (file.files.length) document.getElementById("study").value = await file.files[0].text();
  });
})();
