"""Commands that print nothing, by the arguments they take; packages and classes whose work is done here."""

from __future__ import annotations

import re

# `*` a star, `[` optional, `{` one argument, `=` a length, `(` in parentheses. What is not read stays text.
PASSED = {
    "": """noindent indent centering raggedright raggedleft small footnotesize scriptsize tiny normalsize large Large LARGE huge
        Huge bf it rm sf tt sc sl em bfseries itshape rmfamily sffamily ttfamily scshape slshape mdseries upshape normalfont
        clearpage newpage cleardoublepage onecolumn smallskip medskip bigskip vfill vfil flushbottom raggedbottom sloppy fussy
        frenchspacing nonfrenchspacing boldmath unboldmath textbf textit textrm textsf textsc textsl emph textup textmd
        textnormal text mbox underline uline uwave sout hl ul st centerline leftline rightline bgroup egroup begingroup
        maketitle makecover tableofcontents listoffigures listoftables listofalgorithms frontmatter mainmatter backmatter
        selectfont protect nolinebreak samepage relax balance flushend makeindex doublespacing singlespacing onehalfspacing
        FloatBarrier goodbreak filbreak global ignorespacesafterend strut ttdefault normalcolor makeglossaries glsresetall
        appendixpage noappendicestocpage sloppypar noalign IEEEpeerreviewmaketitle IEEEdisplaynontitleabstractindextext
        columnbreak nocopyright modulolinenumbers nolinenumbers smallbreak medbreak flushleft flushright bibfont raggedcolumns
        textwidth linewidth columnwidth IEEEauthorblockN reversemarginpar hidewidth""",
    "{": """pagestyle thispagestyle pagenumbering hyphenation graphicspath pagecolor index hypersetup lstset urlstyle
        usetikzlibrary pgfplotsset tikzset DeclareGraphicsExtensions date thanksref setstretch linespread glsaddall
        selectlanguage acmDOI acmISBN acmPrice acmYear acmMonth acmVolume acmNumber acmArticle acmSubmissionID setcopyright
        copyrightyear thanksmark usepgfplotslibrary sisetup usebox setdefaultlanguage SetAlFnt SetAlCapFnt SetAlCapNameFnt
        SetCommentSty pdfinfo vadjust special message typeout errmessage newsavebox newlength tcbset toctitle tocauthor
        shortauthors journalname slugcomment lefthead righthead runningtitle jmlrvolume jmlryear markright linenumberfont
        enlargethispage setitemize setenumerate setdescription floatstyle restylefloat urldef bibpreamble everypar
        theoremstyle""",
    "{{": """setlength addtolength settowidth settoheight settodepth lstdefinestyle markboth SetKwComment
        DeclareUnicodeCharacter jmlrsuppheader newfloatcommand crefalias DeclareCaptionFont DeclareCaptionFormat
        DeclareCaptionLabelFormat fontsize aliascntresetthe floatname acmConference""",
    "{{{": "definecolor addcontentsline contentsline",
    "{{{{": "DeclareMathSizes",
    "{{{{{{{{{": "newtheoremstyle",
    "*{": "vspace addvspace",
    "[{": "ccsdesc pdfbookmark savebox sethlcolor",
    "[{[{": "lstdefinelanguage",
    "[": "pagebreak nopagebreak printindex allowdisplaybreaks printglossary printacronyms pause linenumbers",
    "=": """vskip kern mskip vglue hglue parindent parskip baselineskip topmargin oddsidemargin evensidemargin textheight
        headheight headsep footskip abovedisplayskip belowdisplayskip abovecaptionskip belowcaptionskip tabcolsep arraycolsep
        itemsep topsep parsep partopsep columnsep intextsep floatsep textfloatsep dbltextfloatsep doublerulesep arrayrulewidth
        hsize vsize lineskip leftmargin rightmargin leftskip rightskip marginparwidth hoffset voffset abovedisplayshortskip
        belowdisplayshortskip emergencystretch fboxsep fboxrule aboverulesep belowrulesep jot cmidrulekern lightrulewidth
        heavyrulewidth footnotesep dblfloatsep hangindent parfillskip marginparsep lower raise moveleft moveright overfullrule
        maxdepth""",
}

# Packages a source often carries along whose work is done here, or that print nothing.
CARRIED = re.compile(
    r"natbib|algorithm|algorithmic|algorithmicx|algpseudocode|algorithm2e|fancyhdr|graphicx?|amsmath|amssymb|amsthm|amsfonts|"
    r"hyperref|url|cleveref|booktabs|subfigure|subfig|subcaption|caption\d?|times|eso-pic|forloop|xcolor|color|multirow|makecell|"
    r"microtype|nicefrac|float|wrapfig|listings|enumitem|titlesec|geometry|mathtools|bm|bbm|xspace|verbatim|comment|tikz|pgf\w*|"
    r"cite|soul|ulem|todonotes|epsfig|authblk|appendix|placeins|stfloats|threeparttable|siunitx|multicol|tabularx|longtable|"
    r"mathpazo|setspace|parskip|newtxmath|breakurl|doi|orcidlink|silence|lineno|ruler|axessibility|everyshi|balance|flushend|xr|"
    r"biblatex|pifont|fontawesome\d?|dsfont|colortbl|tcolorbox|minted|fancyvrb|etoolbox|xparse|ifthen|calc|adjustbox|acronym|"
    r"glossaries|ragged2e|textcomp|inconsolata", re.I)
VENUES = re.compile(
    r"(neurips|nips|iclr|icml|aaai|ijcai|acl|emnlp|naacl|eacl|coling|cvpr|iccv|eccv|wacv|bmvc|colm|corl|tmlr|jmlr|llncs|IEEEtran|"
    r"acmart|svjour|elsarticle|revtex|aastex|mnras|interspeech|icassp|spconf|uai|aistats|acmconf|sig-|usenix|article|book|report|"
    r"amsart|arxiv|rlc|collas|automl|midl|mlsys|siam|imsart|sn-jnl|wlscirep|iopart|3dv)", re.I)
# Styles in which \cite is natbib's \citep.
CITE_IS_CITEP = re.compile(r"(icml|acl|emnlp|naacl|eacl|coling|mlsys)\w*\d", re.I)
