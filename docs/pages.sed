# Prepares a page for Doxygen: a table of contents below its title; and what it links to outside of docs/, which is not
# part of the site, becomes text.
1a\
\
[TOC]
s|\[\([^]]*\)\](\.\./[^)]*)|\1|g
