"""A deck in words: what stands on its slides, without their HTML and notes."""

from __future__ import annotations

from workshop.book.in_words import in_words
from workshop.slides.deck import slides_of

DECK = """
# A ring

At the end you can `draw` it.

<!-- 1 min. What the lecturer says. -->
<p class="legend">Under a figure: <span class="origin model"></span> a model</p>

---

## In motion

<style>@keyframes frames-2 { 0% { opacity: 1 } }</style>

<figure>
<div class="frames">
<img src="figures/ring-1.svg" alt="Rank 0 &lt;sends&gt; $1." style="animation: x">
<img src="figures/ring-2.svg" alt="Rank 1 sends.">
</div>
<figcaption>Chunks.</figcaption>
</figure>

---

<!-- _class: hands -->
## Step by step

<div class="columns">
<div>

```python
def answer(): ...
```

```
# a comment, no heading
echo "<div>"
```

</div>
<div class="card">

### Rules

<figure>
<img src="figures/ring-2.svg" alt="Rank 1 sends.">
</figure>

All send $2(N-1)$ chunks.

</div>
</div>
"""
WORDS = r"""### 1. A ring

At the end you can `draw` it.

### 2. In motion

*Picture:* Rank 0 \<sends\> \$1.

### 3. Step by step

*Code: on the slide.*

```
# a comment, no heading
echo "<div>"
```

**Rules**

*Picture:* Rank 1 sends.

All send $2(N-1)$ chunks.
"""


def test_slides_become_sections_of_words():
    """Words, formulas and commands stay; notes, HTML and Python go; a step in motion is told where it stands still."""
    assert in_words(slides_of(DECK)) == WORDS
