
Bv15Jbm†Ÿ·^`coˆ¡¹^`cqŠ£»^acsŒ