// What the generator's script makes of a page is within reach of the keyboard: wide tables scroll.
"use strict";
(() => {
  const mend = () => {
    for (const each of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
      each.tabIndex = 0;
      each.setAttribute("role", "group");
      each.setAttribute("aria-label", "Table");
    }
    for (const each of document.querySelectorAll(".md-code__nav:not([role])")) {
      each.setAttribute("role", "group");
    }
  };
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
})();
