
Bv18J0UmÜü∑%>Woà°πUnáü∏&?Wpâ°∫'@Yqä£ª)B[så(AYrã£º*C[tç