// What the browser remembers: language and colours.

function remember(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(`suphx-${name}`);
    localStorage.setItem(`suphx-${name}`, value);
  } catch { /* a browser may refuse storage to local files */ }
  return null;
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function drawTheme() {
  fill(byId("theme"), icon(isDark() ? "light" : "dark"));
  label("theme", isDark() ? "light" : "dark");
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  drawTheme();
}
