/* An object that refers to symbols which nothing defines. */
double elsewhere(double);
extern int far_away[4];

double needs(double x)
{
    return elsewhere(x) + far_away[2];
}
