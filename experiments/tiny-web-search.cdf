# Flows below 69 KB of web-search-bytes: bytes, cumulative probability.
0 0.000000
10000 0.310988
20000 0.414651
30000 0.621977
50000 0.829302
69000 1.000000
