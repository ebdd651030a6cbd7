// What a reader of the slides would stumble over, measured in the page: one finding a line, in pixels of a slide.
([minTextPx, minSmallPx, minContrast, minScale]) => {
  const SMALL = "figcaption, footer, .legend, .small, .sources li";
  const FREE = "mjx-container"; // formulas size their parts themselves

  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const contrast = (element) => {
    const [light, dark] = [parse(getComputedStyle(element).color).slice(0, 3), ground(element)]
      .map(luminance).sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const start = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);

  const measure = (section) => {
    const found = new Set();
    const scale = section.closest("svg").getBoundingClientRect().width / 1280;
    const slide = section.getBoundingClientRect();
    const bottom = (slide.height / scale) - (section.querySelector("footer") ? 44 : 20);
    const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
    const within = (rect, what) => {
      if (rect.width === 0 || rect.height === 0) return;
      const low = (rect.bottom - slide.top) / scale - bottom;
      const wide = (rect.right - slide.left) / scale - (1280 - 30);
      if (low > 1) found.add(`${what} is ${Math.round(low)} px too low`);
      if (wide > 1) found.add(`${what} is ${Math.round(wide)} px too wide`);
      if (rect.top < slide.top || rect.left < slide.left) found.add(`${what} begins outside the slide`);
    };
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || element.closest(FREE) || element.closest("footer, style, script")) continue;
      const text = `"${start(node.data)}"`;
      const range = document.createRange();
      range.selectNodeContents(node);
      within(range.getBoundingClientRect(), text);
      const size = parseFloat(getComputedStyle(element).fontSize);
      const smallest = element.closest(SMALL) ? minSmallPx : minTextPx;
      if (size < smallest) found.add(`${text} is written in ${size.toFixed(1)} px, less than ${smallest}`);
      const ratio = contrast(element);
      if (ratio < minContrast) found.add(`${text} has a contrast of ${ratio.toFixed(1)} to 1, less than ${minContrast}`);
    }
    for (const block of section.querySelectorAll("pre, .columns > div, td, th, li, p"))
      if (block.scrollWidth > block.clientWidth + 2 && getComputedStyle(block).display !== "inline")
        found.add(`"${start(block.textContent)}" is ${block.scrollWidth - block.clientWidth} px wider than its place`);
    for (const block of section.querySelectorAll("pre, .card, .columns > div"))
      if (block.scrollHeight > block.clientHeight + 2)
        found.add(`"${start(block.textContent)}" is ${block.scrollHeight - block.clientHeight} px higher than its place`);
    for (const formula of section.querySelectorAll(FREE)) within(formula.getBoundingClientRect(), "a formula");
    for (const image of section.querySelectorAll("img")) {
      const name = decodeURI(image.src.split("/").pop());
      const rect = image.getBoundingClientRect();
      within(rect, name);
      if (!image.naturalWidth) found.add(`${name} cannot be shown`);
      if (!image.alt.trim()) found.add(`${name} has no text alternative`);
      // The picture keeps its proportions within its box.
      const shown = Math.min(rect.width / image.naturalWidth, rect.height / image.naturalHeight) / scale;
      if (name.endsWith(".svg") && shown < minScale)
        found.add(`${name} is shown at ${Math.round(100 * shown)} %, too small to read`);
    }
    return [...found];
  };

  return [...document.querySelectorAll("section[id]")].map(measure);
}
