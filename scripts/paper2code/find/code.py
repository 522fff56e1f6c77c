"""The authors' own code: every link that a paper and what is known of it give, cleaned, ranked, with the reasons in words.

Sources are joined: LaTeX and HTML links, the PDF's annotations and text, abstract, arXiv's comments, the Hugging Face record.
`rank` says how sure it is; below 0.5 none is taken for the authors' own. Nothing here asks the network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from paper2code.find.statements import statements
from paper2code.paper import Paper

REPOSITORY, GIST, PAGE, MODEL, ARCHIVE = "repository", "gist", "page", "model", "archive"
HOSTS = {
    "github.com": REPOSITORY,
    "gitlab.com": REPOSITORY,
    "bitbucket.org": REPOSITORY,
    "codeberg.org": REPOSITORY,
    "gitee.com": REPOSITORY,
    "git.sr.ht": REPOSITORY,
    "sourceforge.net": REPOSITORY,
    "code.google.com": REPOSITORY,
    "gist.github.com": GIST,
    "huggingface.co": MODEL,
    "zenodo.org": ARCHIVE,
    "osf.io": ARCHIVE,
    "anonymous.4open.science": ARCHIVE,
    "figshare.com": ARCHIVE,
    "colab.research.google.com": PAGE,
    "replicate.com": PAGE,
}
NO_CODE = (
    "arxiv.org",
    "doi.org",
    "aclweb.org",
    "aclanthology.org",
    "openreview.net",
    "wikipedia.org",
    "youtube.com",
    "youtu.be",
    "twitter.com",
    "x.com",
    "semanticscholar.org",
    "scholar.google.com",
    "creativecommons.org",
    "proceedings.mlr.press",
    "papers.nips.cc",
    "proceedings.neurips.cc",
    "acm.org",
    "ieee.org",
    "springer.com",
    "nature.com",
    "sciencedirect.com",
    "linkedin.com",
    "orcid.org",
    "kaggle.com",
    "paperswithcode.com",
    "medium.com",
    "ams.org",
    "latex-project.org",
    "adsabs.harvard.edu",
)
NOT_OWNERS = frozenset(
    "about features topics collections search settings orgs users sponsors marketplace apps login explore blog "
    "docs datasets "
    "spaces models papers tasks".split()
)
GLUED = re.compile(
    r"\.(?:[A-Z][A-Za-z]*.*|(?:the|this|these|we|our|in|it|for|and|with|all|references?|code|each|note|acknowledg\w*|"
    r"related|"
    r"introduction|figure|table|here|to|is|are|under|as|on|from|by|at|see|using|which|both|where)\b.*)$"
)
URL = re.compile(r"(?:https?://|www\.|(?<![\w.@/-])(?=(?:github|gitlab|bitbucket)\.(?:com|org)/))[^\s<>\"'{}|\\^`\[\]]+", re.I)
BROKEN = re.compile(
    r"(https?:\s*//(?:www\.)?(?:github|gitlab|bitbucket)\.\s?(?:com|"
    r"org)/)\s?([A-Za-z0-9][\w.-]{0,38})\s?/\s?([\w.-]{1,100}(?:-\s[\w.-]{1,60})?)",
    re.I,
)


@dataclass(frozen=True)
class Address:
    """A link, cleaned. `url` of a repository is its root; `ref` and `path` what stood after `/tree/` or `/blob/`."""

    url: str
    kind: str
    host: str
    owner: str = ""
    name: str = ""
    ref: str = ""
    path: str = ""

    @property
    def key(self) -> str:
        return re.sub(r"^https?://(?:www\.)?", "", self.url.lower()).rstrip("/")


@dataclass
class Mention:
    """One place where a link was found. `source`: abstract, comments, text, footnote, caption, reference, annotation, huggingface …"""

    source: str
    context: str = ""
    page: int | None = None
    appendix: bool = False
    related: bool = False
    section: str = ""


@dataclass
class Candidate:
    address: Address
    mentions: list[Mention] = field(default_factory=list)


def clean(url: str, *, typed: bool = False) -> Address | None:
    """A link as an address; None for what is no address or never holds code. `typed`: read from text (not from a link's
    target), where a full stop, a bracket or the next word may be stuck to its end."""
    url = re.sub(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+", "", unquote(url) if "%" in url and "%2" not in url.lower() else url)
    url = url.replace("\\_", "_").replace("\\#", "#").replace("\\%", "%").replace("\\~", "~").rstrip("\\")
    url = url.strip("<>\"'`“”‘’()[]{}").rstrip(".,;:!?)]}*'\"")
    if not re.match(r"https?://", url, re.I):
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower().removeprefix("www.")
    except ValueError:
        return None
    if "." not in host or not re.fullmatch(r"[a-z0-9.-]+", host) or any(host == no or host.endswith(f".{no}") for no in NO_CODE):
        return None
    steps = [step for step in parts.path.split("/") if step]
    kind = HOSTS.get(host, PAGE)
    if kind == GIST:
        return (
            Address(f"https://{host}/{'/'.join(steps[:2])}", GIST, host, steps[0] if steps else "", steps[1] if len(steps) > 1 else "")
            if steps
            else None
        )
    if kind == REPOSITORY and host not in ("sourceforge.net", "code.google.com"):
        if not steps or steps[0].lower() in NOT_OWNERS:
            return None
        owner = steps[0]
        if len(steps) == 1:
            return Address(f"https://{host}/{owner}", PAGE, host, owner)
        name = re.sub(r"\.git$", "", steps[1], flags=re.I)
        if typed:
            name = GLUED.sub("", name)
        name = re.sub(r"\.git$", "", re.sub(r"[^\w.-].*$", "", name).rstrip("."), flags=re.I)
        if not name:
            return None
        ref = path = ""
        rest = [step for step in steps[2:] if step != "-"]
        if len(rest) >= 2 and rest[0] in ("tree", "blob", "raw", "src", "commit"):
            ref, path = rest[1], "/".join(rest[2:])
        return Address(f"https://{host}/{owner}/{name}", REPOSITORY, host, owner, name, ref, path)
    if kind == MODEL and steps and steps[0] in ("datasets", "papers", "docs", "blog"):
        return None
    path = re.sub(r"/index\.html?$", "/", parts.path)
    if typed and "/" not in path.strip("/"):
        path = GLUED.sub("", path) if not re.search(r"\.(?:html?|php|pdf|zip|py|ipynb)$", path) else path
    scheme = parts.scheme.lower()
    return Address(
        f"{scheme}://{parts.netloc.lower()}{path}".rstrip("/"), kind, host, steps[0] if steps else "", steps[-1] if steps else ""
    )


def typed_links(text: str) -> Iterator[str]:
    """Links that stand in a text as characters, also such as a line break split after a slash or hyphen."""
    for match in URL.finditer(text):
        yield match.group()
    for match in BROKEN.finditer(text):
        yield re.sub(r"\s+", "", match.group())


# --- gathering --------------------------------------------------------------------------------------------------------------


def candidates(paper: Paper, metadata: dict) -> list[Candidate]:
    """Every address that may hold code, once, with all places where it stands. A target of a real link settles how an
    address that was only read from the text ends."""
    found: dict[str, Candidate] = {}
    typed: list[tuple[Address, Mention]] = []
    said = statements(paper)
    appendix = {section.id: section for section in paper.sections}

    def add(address: Address | None, mention: Mention) -> None:
        if address is not None:
            entry = found.setdefault(address.key, Candidate(address))
            if entry.address.ref == "" and address.ref:
                entry.address = address
            if not any(known.source == mention.source and known.context == mention.context for known in entry.mentions):
                entry.mentions.append(mention)

    for link in paper.links:
        section = appendix.get(link.section)
        context = sentence(link.context or link.text)
        mention = Mention(
            link.where,
            context,
            link.page,
            bool(section and section.appendix),
            bool(section and paper.is_related(section)),
            section.title if section else "",
        )
        address = clean(link.url)
        same = re.sub(r"\W", "", link.url.lower()) == re.sub(r"\W", "", (link.text or "").lower())
        if link.where in ("annotation", "comments") or not same:
            add(address, mention)
        else:
            typed.append((clean(link.url, typed=True) or address, mention))
    for statement in said:
        if statement.kind not in ("heading", "equation", "row") and (
            "http" in statement.text or "git" in statement.text or "www." in statement.text
        ):
            where = (
                "footnote" if statement.kind == "footnote" else statement.kind if statement.kind in ("abstract", "caption") else "text"
            )
            for url in typed_links(statement.text):
                typed.append(
                    (
                        clean(url, typed=True),
                        Mention(where, sentence(statement.text), statement.page, statement.appendix, statement.related, statement.title),
                    )
                )
    for name in ("abstract", "comments"):
        text = metadata.get(name) or ""
        for url in typed_links(text):
            add(clean(url, typed=True), Mention(name, sentence_with(text, url)))
    record = metadata.get("huggingface") or {}
    for key, what in (("githubRepo", "repository"), ("projectPage", "project page")):
        if isinstance(record.get(key), str) and record[key]:
            add(clean(record[key]), Mention("huggingface", f"{what} of the paper's Hugging Face record"))
    settled = set(found)
    for address, mention in typed:
        if address is None:
            continue
        if address.key not in settled:  # "…/bar1" where the link's target is "…/bar": the mark of a footnote, or the next word
            longer = [
                key
                for key in settled
                if address.key.startswith(key)
                and len(address.key) - len(key) <= 12
                and key.count("/") == address.key.count("/")
                and not re.match(r"[-_./]", address.key[len(key) :])
            ]
            shorter = [key for key in settled if key.startswith(address.key) and key.count("/") == address.key.count("/")]
            if longer or shorter:
                address = found[max(longer or shorter, key=len)].address
        add(address, mention)
    return list(found.values())


def sentence(context: str) -> str:
    """A link's sentence on one line, bounded, without the mark of a footnote that a PDF glues to it ("1Code is …")."""
    return re.sub(r"^\d{1,2}(?=[A-Z])", "", " ".join(context.split()))[:600]


def sentence_with(text: str, url: str) -> str:
    from paper2code.sentences import sentences

    return next((sentence.text for sentence in sentences(text) if url[:40] in sentence.text), text)[:600]


# --- ranking ----------------------------------------------------------------------------------------------------------------

OWN = re.compile(
    r"\b(?:our|the authors'?|all|full|complete|corresponding|official) (?:\w+[ ,]+){0,4}(?:code|implementation|source code|codebase|"
    r"repository|software|"
    r"models?|package|library|toolkit|scripts)\b|\b(?:the )?(?:source )?codes?\b[^.]{0,110}\b(?:is|are|will be|can be|has been|made|"
    r"have been)\b[^.]{0,60}"
    r"(?:available|released|found|accessed|provided|published|open|hosted|downloaded|public)|\bcodes? (?:and|,|"
    r"&)[^.]{0,80}(?:available|released|"
    r"found|public|provided|at:?)|\b(?:source )?code(?: and [\w\s-]{2,30})?(?: is| are)? ?(?:available)? ?(?:at\b|here\b|:|\||on\b)|"
    r"\bwe (?:release|open-?source|provide|publish|share|make|have released)\b|\bopen-?sourced?\b|\bimplementation (?:of "
    r"[^.]{2,60})?(?:is|are) (?:publicly |"
    r"freely |also )?available|\b(?:publicly|freely|openly) available at\b|\bproject (?:web ?)?(?:page|site)\b|\bweb ?page\b|\bcode "
    r"used (?:to|for|in)\b|\bcode we used\b"
    r"|\brepository (?:is|at|of this|for this)\b|\bmodel (?:checkpoints|weights) (?:are|is) available|\b(?:data|dataset|corpus|"
    r"models?|weights|instructions)\b[^.]{0,60}\b(?:is|are) (?:publicly |freely |made )?available (?:at|here|on|from)\b|\bto "
    r"reproduce (?:our|the|all)\b|\bdevelopment of\b",
    re.I,
)
OTHERS = re.compile(
    r"\bwe (?:use|used|adopt|adopted|employ|utili[sz]e|follow|build|built|rely|downloaded|obtain|take|took|base|evaluate (?:with|"
    r"using)|compare|adapt|"
    r"modif\w+|run|borrow|reproduce)\b|\b(?:based|built|implemented|relies|building) (?:up)?on\b|\bimplementation (?:of|from|by|"
    r"provided)\b|\b(?:adapted|"
    r"borrowed|taken|obtained|downloaded|derived|forked|provided) (?:from|by)\b|\bthird[- ]party\b|\bbaselines?\b|\bcompared "
    r"methods?\b|\bet al\b|"
    r"\bofficial (?:implementation|code|repository)s? (?:of|for|from|by|at)\b|\bpre-?trained (?:model|weight|checkpoint)s? (?:from|of|"
    r"by|provided)|\busing the\b|"
    r"\bdataset\b|\bdata set\b|\bbenchmark\b|\btoolkit\b|\blibrary\b|\btheir\b|\ban? (?:open-source |alternative |pytorch |tensorflow "
    r"|unofficial |"
    r"example )*implementation is\b|\bavailable in\b",
    re.I,
)
PAPER_ITSELF = re.compile(
    r"\b(?:latex|source (?:of|for) (?:the|this) (?:paper|document)|living document|correspondence to the|"
    r"issues?\b.*\breport|errata|revision of)\b",
    re.I,
)
DOCUMENTATION = re.compile(r"\b(?:documentation|tutorial|install\w*|pip|license|licence|bug|issue tracker|style file|template)\b", re.I)
LIBRARIES = frozenset(
    "pytorch/pytorch tensorflow/tensorflow google/jax jax-ml/jax google/flax keras-team/keras huggingface/transformers "
    "huggingface/datasets "
    "huggingface/peft huggingface/diffusers huggingface/pytorch-image-models rwightman/pytorch-image-models openai/gym "
    "openai/baselines numpy/numpy "
    "scikit-learn/scikit-learn facebookresearch/fairseq pytorch/fairseq facebookresearch/xformers nvidia/apex nvidia/megatron-lm "
    "deepspeedai/deepspeed "
    "microsoft/deepspeed open-mmlab/mmdetection open-mmlab/mmsegmentation facebookresearch/detectron2 pytorch/vision "
    "lightning-ai/lightning "
    "pytorch/examples wandb/wandb eleutherai/lm-evaluation-harness theano/theano lasagne/lasagne chainer/chainer apache/mxnet "
    "pyg-team/pytorch_geometric "
    "rusty1s/pytorch_geometric dmlc/dgl deepmind/dm-haiku google/flaxformer google-research/t5x google/trax mjpost/sacrebleu "
    "google/sentencepiece "
    "rsennrich/subword-nmt moses-smt/mosesdecoder vllm-project/vllm skypilot-org/skypilot nvidia/cutlass optuna/optuna "
    "matplotlib/matplotlib pandas-dev/pandas "
    "deepmind/lab mgbellemare/arcade-learning-environment farama-foundation/gymnasium dlr-rm/stable-baselines3 karpathy/nanogpt "
    "karpathy/mingpt openai/clip "
    "openai/guided-diffusion".split()
)
STOP = frozenset(
    "with from that this into over under using for and the of a an in on to by via is are be all you need towards toward "
    "new novel simple "
    "efficient deep learning neural network networks model models based method methods approach".split()
)


@dataclass
class Names:
    """What a repository of the paper may be called: words and acronyms of its title and abstract; the authors' surnames."""

    words: set[str]
    acronyms: set[str]
    squashed: str
    authors: set[str]

    @classmethod
    def of(cls, paper: Paper, metadata: dict) -> Names:
        title = paper.title or metadata.get("title") or ""
        abstract = paper.abstract or metadata.get("abstract") or ""
        plain = re.sub(r"\\[a-zA-Z]+|[${}^_]", " ", title)
        words = {word for word in re.findall(r"[a-z0-9]+", plain.lower()) if word not in STOP and len(word) > 2}
        initials = "".join(word[0] for word in re.findall(r"[A-Za-z][\w]*", plain) if word.lower() not in ("a", "an", "the"))
        short = "".join(word[0] for word in re.findall(r"[A-Za-z][\w]*", plain) if word.lower() not in STOP)
        acronyms = {
            match.lower().replace("-", "")
            for match in re.findall(
                r"\b(?:[A-Z][a-z]*){1,4}[A-Z][A-Za-z]*\d?(?:-[A-Z0-9]\w*)?\b|\b[A-Z]{2,}\w*\b", f"{plain} {abstract}"
            )
        }
        head = re.match(r"\s*([\w -]{2,30}?)\s*:", plain)
        if head:
            acronyms.add(re.sub(r"\W", "", head[1].lower()))
        acronyms |= {name.lower() for name in (initials, short) if 2 < len(name) < 8}
        authors = {
            re.sub(r"[^a-z]", "", ascii_of(name.split()[-1]).lower())
            for name in (paper.authors or metadata.get("authors") or [])
            if name.split()
        }
        authors |= {re.sub(r"[^a-z]", "", ascii_of(name).lower()) for name in (paper.authors or metadata.get("authors") or [])}
        return cls(
            words,
            acronyms - {"", "we", "ai", "ml"},
            re.sub(r"[^a-z0-9]", "", plain.lower()),
            {name for name in authors if len(name) > 2},
        )

    def likeness(self, address: Address) -> float:
        """0 to 1: how much an address is named like the paper."""
        name = address.name or address.host.split(".")[0]
        if address.kind == PAGE and address.host.endswith((".github.io", ".gitlab.io")):
            name = address.name or address.host.split(".")[0]
        bare = re.sub(r"[^a-z0-9]", "", name.lower())
        parts = [part for part in re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()) if part not in STOP]
        if not bare:
            return 0.0
        if bare in self.acronyms or (len(bare) > 5 and bare in self.squashed):
            return 1.0
        if any(len(known) > 3 and (bare.startswith(known) or known in parts) for known in self.acronyms):
            return 0.9
        hits = sum(
            part in self.words or any(word.startswith(part) or part.startswith(word) for word in self.words if len(part) > 3)
            for part in parts
        )
        return min(1.0, 0.9 * hits / len(parts)) if parts else 0.0


def ascii_of(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def judged(candidate: Candidate, names: Names, alone: bool, crowd: int) -> tuple[float, list[str]]:
    """Score (log-odds) and the reasons for it, strongest first."""
    address, mentions = candidate.address, candidate.mentions
    weights: list[tuple[float, str]] = []

    def say(weight: float, reason: str) -> None:
        weights.append((weight, reason))

    texts = [mention.context for mention in mentions if mention.source not in ("reference", "huggingface")]
    own = next((mention for mention in mentions if mention.source != "reference" and OWN.search(mention.context)), None)
    if own:
        say(3.6 if strong(own) else 2.4, f"the sentence says that code is given: “{excerpt(own.context, OWN)}”")
    if any(mention.source == "huggingface" for mention in mentions):
        say(2.6, "the paper's Hugging Face record names it")
    if any(mention.source == "comments" for mention in mentions):
        say(2.0, "it stands in arXiv's comments")
    if any(mention.source == "abstract" for mention in mentions):
        say(2.2, "it stands in the abstract or under the title")
    elif any(mention.page == 1 for mention in mentions if mention.source != "reference"):
        say(1.3, "it stands on the first page")
    elif any(re.match(r"introduction|conclusion", mention.section, re.I) for mention in mentions if mention.source != "reference"):
        say(0.7, "it stands in the introduction or conclusion")
    like = names.likeness(address)
    if like >= 0.4:
        say(1.8 * like, "it is named like the paper or its method")
    owner = re.sub(r"[^a-z]", "", address.owner.lower() if address.kind != PAGE else address.host.split(".")[0])
    if owner and any(len(name) > 3 and (name in owner or owner in name and len(owner) > 4) for name in names.authors):
        say(1.5, "its owner is called like an author")
    if len({mention.source for mention in mentions if mention.source not in ("reference", "annotation")}) > 1 or len(set(texts)) > 1:
        say(0.4, "it is named in several places")
    if alone and address.kind in (REPOSITORY, PAGE):
        say(1.4 if address.kind == REPOSITORY else 0.7, "it is the only code link of the paper")
    # against it
    if mentions and all(mention.source == "reference" for mention in mentions):
        say(-3.5, "it stands in the bibliography only")
    if f"{address.owner}/{address.name}".lower() in LIBRARIES and not (
        own and re.search(r"\b(?:our|we used|the code)\b", own.context, re.I)
    ):
        say(-3.0, "it is a library that many use")
    others = next((mention for mention in mentions if mention.source != "reference" and OTHERS.search(mention.context)), None)
    if others and not any(strong(mention) for mention in mentions):
        say(-1.8, f"the sentence speaks of something used: “{excerpt(others.context, OTHERS)}”")
    if any(PAPER_ITSELF.search(text) for text in texts):
        say(-3.0, "it holds the paper itself, not code")
    if texts and all(DOCUMENTATION.search(text) for text in texts):
        say(-0.8, "the sentence speaks of documentation or installation")
    if mentions and all(mention.related for mention in mentions):
        say(-2.0, "it stands in related work")
    if mentions and all(mention.appendix for mention in mentions) and not own:
        say(-1.0, "it stands in the appendix only")
    if mentions and all(mention.source == "caption" for mention in mentions):
        say(-1.5, "it stands in a caption")
    if crowd > 1 and not own:
        say(-min(2.5, 0.5 * crowd), f"the same paragraph or footnotes name {crowd} such links")
    if address.kind == PAGE:
        code_page = (
            own is not None
            or any(mention.source == "huggingface" for mention in mentions)
            or address.host.endswith((".github.io", ".gitlab.io"))
        )
        say(
            -0.6 if code_page else -3.0,
            "it is a page, not a repository" if code_page else "it is a page of which nothing says that it holds code",
        )
    elif address.kind in (MODEL, GIST, ARCHIVE):
        say(-1.0, {MODEL: "it holds models", GIST: "it is a gist, not a repository", ARCHIVE: "it is an archive"}[address.kind])
    elif address.path and address.path.count("/") > 2:
        say(-0.5, "it points at a file deep in a repository")
    weights.sort(key=lambda pair: -abs(pair[0]))
    return sum(weight for weight, _ in weights) - 2.6, [f"{'+' if weight > 0 else '−'} {reason}" for weight, reason in weights]


def strong(mention: Mention) -> bool:
    """Whether a sentence claims the code for the authors, whatever else it says."""
    return bool(
        re.search(
            r"\b(?:our|the|all|source|full)\b[^.]{0,40}\bcodes?\b[^.]{0,80}(?:available|released|found|open|at\b|:)|"
            r"^code:?|\bcode:|\bcode we used|"
            r"\bwe (?:release|open-?source|make)\b|\bour (?:\w+ ){0,2}(?:implementation|repository|package)\b|\bcodes? "
            r"(?:is|are)\b",
            mention.context,
            re.I,
        )
    )


def excerpt(text: str, pattern: re.Pattern) -> str:
    """Some words around what a pattern found."""
    match = pattern.search(text)
    if match is None:
        return text[:80]
    start, end = max(0, match.start() - 20), min(len(text), match.end() + 30)
    return ("…" if start else "") + " ".join(text[start:end].split()) + ("…" if end < len(text) else "")


def rank(paper: Paper, metadata: dict | None = None) -> list[dict]:
    """Links that may hold the authors' code, best first: `url`, `source`, `context`, `confidence` (0 to 1), `reasons`, and for
    what points into a repository its `ref` and `path`. Below 0.5 nothing is taken for official."""
    metadata = metadata or {}
    names = Names.of(paper, metadata)
    found = candidates(paper, metadata)
    coded = [entry for entry in found if entry.address.kind != PAGE or entry.address.host.endswith((".github.io", ".gitlab.io"))]
    places: dict[tuple, int] = {}
    for entry in coded:
        for place in {
            (mention.section, mention.source) for mention in entry.mentions if mention.source in ("footnote", "text", "reference")
        }:
            places[place] = places.get(place, 0) + 1
    out = []
    for entry in found:
        crowd = max((places.get((mention.section, mention.source), 0) for mention in entry.mentions), default=0) - 1
        score, reasons = judged(entry, names, len(coded) == 1 and entry in coded, crowd)
        best = min(entry.mentions, key=lambda mention: ORDER.index(mention.source) if mention.source in ORDER else len(ORDER))
        confidence = 1 / (1 + math.exp(-score))
        shown = {
            "url": entry.address.url,
            "kind": entry.address.kind,
            "source": best.source,
            "context": best.context,
            "confidence": round(confidence, 2),
            "reasons": reasons,
        }
        if best.page:
            shown["page"] = best.page
        if entry.address.ref:
            shown |= {"ref": entry.address.ref, "path": entry.address.path}
        out.append((confidence, shown))
    # Where a repository is sure enough it goes before a page, which says less of where the code is.
    out.sort(key=lambda pair: (not (pair[0] >= 0.5 and pair[1]["kind"] == REPOSITORY), -pair[0], pair[1]["url"]))
    kept = [shown for confidence, shown in out if confidence >= 0.02 or shown["kind"] == REPOSITORY]
    return kept[:MOST]


ORDER = ("abstract", "comments", "huggingface", "text", "footnote", "annotation", "caption", "reference")
MOST = 40


def official(entries: Iterable[dict]) -> dict | None:
    """The first entry when it is sure enough to be called the authors' own."""
    first = next(iter(entries), None)
    return first if first and first["confidence"] >= 0.5 else None
